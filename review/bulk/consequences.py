"""What each choice would do to a frozen set, per class of item, in plain English. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from review.bulk.choices import CHOICES, Choice, barred, meaning
from review.decisions import Kind
from review.verbs import kind_of


@dataclass(frozen=True, slots=True)
class Frozen:
    """What is asked of an item: what it is, and what stands against which choice."""

    source: str
    kind: str
    bars: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Class:
    """Some items of one kind, and what a choice means for each, or why it leaves them out."""

    kind: Kind
    count: int
    says: str


@dataclass(frozen=True, slots=True)
class Consequence:
    """What one choice would do to the whole set."""

    choice: Choice
    count: int
    taken: tuple[Class, ...]
    left: tuple[Class, ...]


def why_not(choice: Choice, item: Frozen) -> str:
    """Say why a choice leaves an item out, or nothing."""
    return barred(choice, item.source, item.kind) or item.bars.get(choice.word, "")


def consequences(items: Iterable[Frozen]) -> list[Consequence]:
    """Say what each choice would do; one that is for none of the items comes last."""
    items = list(items)
    found = [_of(choice, items) for choice in CHOICES.values()]
    return sorted(found, key=lambda each: each.count == 0)


def _of(choice: Choice, items: Iterable[Frozen]) -> Consequence:
    taken: Counter[tuple[str, str, str]] = Counter()
    left: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        why = why_not(choice, item)
        says = why or meaning(choice, item.source, item.kind)
        (left if why else taken)[item.source, item.kind, says] += 1
    return Consequence(choice, taken.total(), _classes(taken), _classes(left))


def _classes(counts: Counter[tuple[str, str, str]]) -> tuple[Class, ...]:
    return tuple(
        Class(kind_of(source, kind), count, says)
        for (source, kind, says), count in counts.most_common()
    )
