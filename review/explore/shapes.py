"""What a list consists of: rows in words, tabs, and pages by keyset. No noun of its own."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan
from django.utils import timezone
from django.utils.safestring import SafeString

from ledger.models import Effect
from review.items.parts import Chip
from review.language import grouped, later
from review.people import People
from review.text import shown

PAGE: Final = 50
# Counting stops here; "1,000+" tells a person as much as the exact number.
COUNT_CAP: Final = 1_000
# A search names one thing; more hits than this are a list, not a find.
HITS: Final = 50
_EFFECTS = 300


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a list, ready to show."""

    what: str
    url: str
    why: str = ""
    chips: tuple[Chip, ...] = ()
    at: datetime | None = None
    late: bool = False
    last: str | SafeString = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """One selection of a list that an index serves: its rows, their order, what it means."""

    label: str
    rows: Callable[[], QuerySet[Any]]
    # Columns none of which is NULL here; all of them the same way round, the last one unique.
    order: tuple[str, ...]
    said: str
    when: str = later("When")
    empty: str = later("Nothing is here now.")


@dataclass(frozen=True, slots=True)
class Look:
    """What the rows of one page are told with: who may be linked, and when it is."""

    people: People
    now: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: its words, its tabs, how one thing is found in it, and how rows are told."""

    title: str
    story: str
    heads: tuple[str, str, str]
    finds: str
    tabs: Mapping[str, Tab]
    find: Callable[[str], Sequence[Any]]
    line: Callable[[Any, Look], Line]
    # Where else to look: a label and the name of an address, with its query.
    beside: Sequence[tuple[str, str, str]] = ()
    lost: str = later("Only exact names are found, so that a list of any size answers at once.")

    def tell(self, rows: Iterable[Any], people: People) -> list[Line]:
        """Put rows in words."""
        look = Look(people, timezone.now())
        return [self.line(row, look) for row in rows]


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one page and the position of the next."""

    rows: list[Any] = field(default_factory=list)
    after: str = ""


def page(rows: QuerySet[Any], order: tuple[str, ...], after: str, size: int = PAGE) -> Page:
    """Return the rows that follow a position in an order."""
    names = [name.lstrip("-") for name in order]
    ordered = rows.order_by(*order)
    if position := _position(rows, names, after):
        beyond = TupleLessThan if order[0].startswith("-") else TupleGreaterThan
        ordered = ordered.filter(beyond(Tuple(*(F(name) for name in names)), position))
    found = list(ordered[: size + 1])
    if len(found) <= size:
        return Page(found)
    return Page(found[:size], _written(found[size - 1], names))


def _written(row: Any, names: Iterable[str]) -> str:
    return json.dumps([str(getattr(row, name)) for name in names], ensure_ascii=False)


def _position(rows: QuerySet[Any], names: list[str], after: str) -> tuple[Any, ...] | None:
    """Read a position from the address; a broken one is the first page, not an error."""
    try:
        values = json.loads(after)
        columns = {each.name: each for each in rows.model._meta.concrete_fields}
        if not isinstance(values, list) or len(values) != len(names):
            return None
        read = [columns[name].to_python(value) for name, value in zip(names, values, strict=True)]
    except (ValueError, TypeError, ValidationError, OverflowError, RecursionError):
        return None
    return None if None in read or not _fits(read) else tuple(read)


def _fits(values: Iterable[Any]) -> bool:
    """Say whether the database can compare with these: no number beyond what a column holds."""
    return all(not isinstance(each, int) or abs(each) < 2**63 for each in values)


def counted_to_cap(tab: Tab) -> str:
    """Count the rows of a tab, a plus where counting stopped.

    In the tab's order, whose index holds these rows alone: whatever lies before the first of them
    in the table is not read.
    """
    number = len(tab.rows().order_by(*tab.order).values_list("pk")[: COUNT_CAP + 1])
    return f"{grouped(COUNT_CAP)}+" if number > COUNT_CAP else grouped(number)


def number_of(text: str) -> int | None:
    """Read a row's number, written as 17 or #17."""
    digits = text.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def keys_named(text: str) -> list[str]:
    """Return the keys a text may mean: itself, and that of the event it names for each effect."""
    names = Effect.objects.values_list("name", flat=True).order_by("name")[:_EFFECTS]
    return [text, *(f"{name}:{text}" for name in names)]


def event_of(key: str, effect: str) -> str:
    """Write a key without the effect it begins with."""
    return shown(key.removeprefix(f"{effect}:"), 120)
