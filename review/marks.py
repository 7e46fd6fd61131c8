"""Marks the characters in which one text differs from another, within a fixed budget of work.

Pure. The budget is shared by all marks of one page: hostile values make the marks coarser (a whole
stretch is marked), never the page slow.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from review.language import _, grouped

# Comparisons of two tokens one page may spend: about a third of a second of one core.
PAGE_BUDGET = 1_500_000
# One pair of texts may spend this much: 400 words against 400 words.
_PAIR_LIMIT = 160_000
# Texts whose differing middle is this short are compared by characters, longer ones by words.
_CHARACTER_LIMIT = 160
# An equal run shorter than this between two changes reads worse than one longer change.
_ISLAND = 3
# Below this share of kept characters two short texts have nothing to do with each other.
_ALIKE = 0.5

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text that is, or is not, different from what it is compared with."""

    text: str
    changed: bool = False


class Budget:
    """Counts down the comparisons a page may still make."""

    def __init__(self, steps: int = PAGE_BUDGET) -> None:
        """Start with what one page may spend."""
        self._left = steps

    def spend(self, steps: int) -> bool:
        """Take steps if they are there; otherwise say no and leave the rest for smaller pairs."""
        if steps > min(self._left, _PAIR_LIMIT):
            return False
        self._left -= steps
        return True


def mark_text(reference: str, text: str, budget: Budget) -> tuple[Segment, ...]:
    """Split text into segments that are, or are not, in reference at that place."""
    if reference == text:
        return (Segment(text),) if text else ()
    head = _common_prefix(reference, text)
    tail = _common_prefix(reference[head:][::-1], text[head:][::-1])
    old = reference[head : len(reference) - tail]
    new = text[head : len(text) - tail]
    middle = _mark_middle(old, new, budget)
    return _joined([Segment(text[:head]), *middle, Segment(text[len(text) - tail :])])


def mark_items(reference: Sequence[str], items: Sequence[str], budget: Budget) -> list[bool]:
    """Say for each item of a list whether it is new against the reference list."""
    head = _common_prefix(reference, items)
    tail = _common_prefix(reference[head:][::-1], items[head:][::-1])
    old = reference[head : len(reference) - tail]
    new = items[head : len(items) - tail]
    kept = _kept(old, new, budget)
    return [False] * head + [not keep for keep in kept] + [False] * tail


def _mark_middle(old: str, new: str, budget: Budget) -> list[Segment]:
    if not new:
        return []
    if not old:
        return [Segment(new, changed=True)]
    by_character = max(len(old), len(new)) <= _CHARACTER_LIMIT
    old_tokens = list(old) if by_character else _WORDS.findall(old[: _PAIR_LIMIT * 8])
    new_tokens = list(new) if by_character else _WORDS.findall(new[: _PAIR_LIMIT * 8])
    if not by_character and max(len(old), len(new)) > _PAIR_LIMIT * 8:
        return [Segment(new, changed=True)]
    kept = _kept(old_tokens, new_tokens, budget)
    if by_character and sum(kept) < _ALIKE * len(new):
        return [Segment(new, changed=True)]
    segments = [
        Segment(token, changed=not keep) for token, keep in zip(new_tokens, kept, strict=True)
    ]
    return _without_islands(_joined(segments)) if by_character else list(_joined(segments))


def _kept(old: Sequence[str], new: Sequence[str], budget: Budget) -> list[bool]:
    """Say which tokens of new belong to the longest common subsequence with old."""
    if not old or not new or not budget.spend(len(old) * len(new)):
        return [False] * len(new)
    width = len(new) + 1
    lengths = [[0] * width]
    for token in reversed(old):
        below = lengths[-1]
        row = [0] * width
        for column in range(len(new) - 1, -1, -1):
            if token == new[column]:
                row[column] = below[column + 1] + 1
            else:
                row[column] = max(below[column], row[column + 1])
        lengths.append(row)
    lengths.reverse()
    kept = [False] * len(new)
    line, column = 0, 0
    while line < len(old) and column < len(new):
        if old[line] == new[column]:
            kept[column] = True
            line, column = line + 1, column + 1
        elif lengths[line + 1][column] >= lengths[line][column + 1]:
            line += 1
        else:
            column += 1
    return kept


def _common_prefix(left: Sequence[str], right: Sequence[str]) -> int:
    most = min(len(left), len(right))
    if left[:most] == right[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _without_islands(segments: Sequence[Segment]) -> list[Segment]:
    """Swallow a very short equal run between two changes."""
    result = list(segments)
    for position in range(1, len(result) - 1):
        island = result[position]
        if not island.changed and len(island.text) < _ISLAND:
            result[position] = Segment(island.text, changed=True)
    return result


def _joined(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Join neighbours of the same kind and drop empty ones."""
    filled = [segment for segment in segments if segment.text]
    if not filled:
        return ()
    starts = [0] + [
        place + 1
        for place, (left, right) in enumerate(pairwise(filled))
        if left.changed != right.changed
    ]
    ends = [*starts[1:], len(filled)]
    return tuple(
        Segment("".join(part.text for part in filled[start:end]), filled[start].changed)
        for start, end in zip(starts, ends, strict=True)
    )


def elide(segments: Sequence[Segment], limit: int, context: int = 60) -> tuple[Segment, ...]:
    """Fold long equal stretches and cut the rest so that at most about limit characters remain."""
    if sum(len(segment.text) for segment in segments) <= limit:
        return tuple(segments)
    result: list[Segment] = []
    room = limit
    for segment in segments:
        text = segment.text
        if not segment.changed and len(text) > 3 * context:
            same = _("{number} the same").format(number=grouped(len(text) - 2 * context))
            text = f"{text[:context]} … {same} … {text[-context:]}"
        if len(text) > room:
            result.append(Segment(f"{text[:room]} … {_('cut')}", segment.changed))
            break
        result.append(Segment(text, segment.changed))
        room -= len(text)
    return tuple(result)
