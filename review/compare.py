"""Three-way compare of a refused change: what was read, what was attempted, what is there now.

Pure: values in (see jsonvalue), dataclasses out, which the templates render. Work and output are
bounded, so that no stored value can make a page slow or endless. What will be written for a choice
is in merge.py.
"""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from review.jsonvalue import MISSING, TYPE_WORDS, Number, inline, scalar_text, type_name
from review.language import _, later, plural
from review.marks import Budget, Segment, elide, mark_items, mark_text

# More differing fields than this are a different record, not a conflict to read field by field.
FIELDS_LIMIT = 200
# Differences listed inside one nested value.
NESTED_LIMIT = 40
_NESTED_DEPTH = 8
# Characters of one value that the table shows; the rest is folded or cut.
CELL_LIMIT = 800
# Characters of one value that are looked at for marks.
_READ_LIMIT = 65_536
# List elements that are aligned one by one.
_ITEMS_LIMIT = 300
# Values visited before two of them are called different unseen.
_VISITS_LIMIT = 50_000


class Equality(enum.Enum):
    """How far two values are the same."""

    IDENTICAL = "identical"
    SAME_NUMBER = "same number, written differently"
    DIFFERENT = "different"


class Change(enum.StrEnum):
    """Who changed a field since the attempt read it."""

    SAME = "same"
    ATTEMPTED = "attempted"
    CURRENT = "current"
    AGREED = "agreed"
    CLASH = "clash"
    CARRIED = "carried"


CHANGE_WORDS: Mapping[Change, str] = {
    Change.SAME: later("same on all sides"),
    Change.ATTEMPTED: later("changed by the attempt alone"),
    Change.CURRENT: later("changed since"),
    Change.AGREED: later("both sides wrote the same"),
    Change.CLASH: later("changed on both sides: only one can stay"),
    Change.CARRIED: later("changed since; the attempt carries the old value"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of one field, ready to show: its type and its marked text."""

    type: str
    segments: tuple[Segment, ...] = ()

    @property
    def type_words(self) -> str:
        """Name the type in the reader's language."""
        return TYPE_WORDS[self.type]

    @property
    def text(self) -> str:
        """The whole shown text without marks."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Row:
    """One field on three sides; nested holds the places inside it that differ."""

    name: str
    change: Change
    base: Cell
    attempted: Cell
    current: Cell
    in_attempt: bool
    types_differ: bool = False
    note: str = ""
    nested: tuple["Row", ...] = ()
    nested_more: bool = False

    @property
    def words(self) -> str:
        """Say in words who changed the field."""
        return CHANGE_WORDS[self.change]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differing fields, the ones that are the same, and how many were left out."""

    rows: tuple[Row, ...]
    same: tuple[Row, ...]
    left_out: int = 0
    whole: bool = False
    clashes: tuple[str, ...] = field(default=())


def equality(left: Any, right: Any) -> Equality:
    """Compare two values by type and value, walking with an own stack and a visit limit."""
    result = Equality.IDENTICAL
    stack = [(left, right)]
    for _visit in range(_VISITS_LIMIT):
        if not stack:
            return result
        one, other = stack.pop()
        if type(one) is not type(other):
            return Equality.DIFFERENT
        if isinstance(one, dict | list):
            members = _paired(one, other)
            if members is None:
                return Equality.DIFFERENT
            stack.extend(members)
        elif isinstance(one, Number) and one != other and one.equals(other):
            result = Equality.SAME_NUMBER
        elif one != other:
            return Equality.DIFFERENT
    return Equality.DIFFERENT


def _paired(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """Pair the members of two objects or two lists; None where they cannot be the same."""
    if isinstance(one, dict):
        return [(one[key], other[key]) for key in one] if one.keys() == other.keys() else None
    return list(zip(one, other, strict=True)) if len(one) == len(other) else None


def _same(left: Any, right: Any) -> bool:
    return equality(left, right) is not Equality.DIFFERENT


def judge(base: Any, attempted: Any, current: Any) -> Change:
    """Say who changed a value; an attempt that does not name the field has no part in it."""
    moved = not _same(base, current)
    if attempted is MISSING:
        return Change.CURRENT if moved else Change.SAME
    if _same(attempted, current):
        return Change.AGREED if moved else Change.SAME
    if not moved:
        return Change.ATTEMPTED
    return Change.CARRIED if _same(attempted, base) else Change.CLASH


def compare(base: Any, attempted: Any, current: Any) -> Comparison:
    """Line the fields of three sides up; sides that are not objects are compared whole."""
    sides = (base, attempted, current)
    present = [side for side in sides if side is not MISSING and side is not None]
    budget = Budget()
    if not present or not all(isinstance(side, dict) for side in present):
        row = _row(_("value"), sides, attempted is not MISSING, budget)
        differs = row.change is not Change.SAME
        return Comparison((row,) if differs else (), () if differs else (row,), whole=True)
    objects = [side if isinstance(side, dict) else {} for side in sides]
    names = list(
        dict.fromkeys(name for side in (objects[1], objects[0], objects[2]) for name in side)
    )
    differing: list[Row] = []
    same: list[Row] = []
    left_out = 0
    for name in names:
        values = tuple(side.get(name, MISSING) for side in objects)
        changed = judge(*values) is not Change.SAME or _rewritten(values)
        if len(differing if changed else same) >= FIELDS_LIMIT:
            left_out += 1
            continue
        row = _row(name, values, name in objects[1], budget)
        (differing if changed else same).append(row)
    differing.sort(key=lambda row: (not row.in_attempt, row.change is not Change.CLASH))
    clashes = tuple(row.name for row in differing if row.change is Change.CLASH)
    return Comparison(tuple(differing), tuple(same), left_out, clashes=clashes)


def _rewritten(values: tuple[Any, ...]) -> bool:
    """Say whether the attempt would only write the same number differently (1 and 1.0)."""
    return equality(values[1], values[2]) is Equality.SAME_NUMBER


def _row(name: str, sides: tuple[Any, ...], in_attempt: bool, budget: Budget) -> Row:
    base, attempted, current = sides
    reference = base if base is not MISSING else current
    others = [side for side in sides if side is not MISSING and side is not None]
    types = {type_name(side) for side in others}
    nested: tuple[Row, ...] = ()
    more = False
    if types == {"object"} and len(others) > 1:
        leaves = _leaves(sides, "", 0, budget)
        nested = tuple(row for row, _ in zip(leaves, range(NESTED_LIMIT), strict=False))
        more = next(leaves, None) is not None
    return Row(
        name=name,
        change=judge(base, attempted, current),
        base=_summary(base) if nested else _cell(base, base, budget),
        attempted=_summary(attempted) if nested else _cell(attempted, reference, budget),
        current=(
            _summary(current)
            if nested
            else _cell(current, base if base is not MISSING else attempted, budget)
        ),
        in_attempt=in_attempt,
        types_differ=len(types) > 1,
        note=_("same number, written differently") if _rewritten(sides) else "",
        nested=nested,
        nested_more=more,
    )


def _leaves(sides: tuple[Any, ...], path: str, depth: int, budget: Budget) -> Iterator[Row]:
    """Yield the differing places inside objects, named by their path."""
    objects = [side if isinstance(side, dict) else {} for side in sides]
    in_attempt = isinstance(sides[1], dict)
    for key in dict.fromkeys(key for side in objects for key in side):
        values = tuple(side.get(key, MISSING) for side in objects)
        whole = (values[0], values[1] if in_attempt else MISSING, values[2])
        if judge(*whole) is Change.SAME and not (in_attempt and values[1] is MISSING):
            continue
        name = f"{path}.{key}" if path else key
        inside = all(isinstance(value, dict) for value in values if value is not MISSING)
        if inside and depth < _NESTED_DEPTH and sum(value is not MISSING for value in values) > 1:
            yield from _leaves(values, name, depth + 1, budget)
        else:
            yield Row(
                name=name,
                change=judge(*whole),
                base=_cell(values[0], values[0], budget),
                attempted=_cell(values[1], values[0], budget),
                current=_cell(values[2], values[0], budget),
                in_attempt=in_attempt,
            )


def _summary(value: Any) -> Cell:
    """Show an object whose differing places are listed below it by its size alone."""
    if not isinstance(value, dict):
        return Cell(type_name(value))
    return Cell(
        "object", (Segment(f"{{…}} {plural('{number} field', '{number} fields', len(value))}"),)
    )


def _cell(value: Any, reference: Any, budget: Budget) -> Cell:
    """Show a value with the characters or elements marked that the reference does not have."""
    kind = type_name(value)
    if value is MISSING or value is None:
        return Cell(kind)
    if isinstance(value, list):
        return Cell(kind, elide(_list_segments(value, reference, budget), CELL_LIMIT))
    text = _plain(value)
    if reference is MISSING or reference is None or isinstance(reference, list):
        segments: tuple[Segment, ...] = (Segment(text, changed=reference is not value),)
    elif isinstance(value, dict):
        segments = (Segment(text),)
    else:
        segments = mark_text(_plain(reference), text, budget)
    return Cell(kind, elide(segments, CELL_LIMIT))


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value[:_READ_LIMIT]
    if isinstance(value, dict | list):
        return inline(value, CELL_LIMIT).text
    return scalar_text(value)[:_READ_LIMIT]


def _list_segments(value: list[Any], reference: Any, budget: Budget) -> tuple[Segment, ...]:
    items = [inline(item, CELL_LIMIT).text for item in value[:_ITEMS_LIMIT]]
    if isinstance(reference, list) and reference is not value:
        other = [inline(item, CELL_LIMIT).text for item in reference[:_ITEMS_LIMIT]]
        new = mark_items(other, items, budget)
    else:
        new = [reference is not value] * len(items)
    segments = [
        part
        for item, changed in zip(items, new, strict=True)
        for part in (Segment(item, changed), Segment("\n"))
    ]
    if len(value) > _ITEMS_LIMIT:
        more = len(value) - _ITEMS_LIMIT
        segments.append(
            Segment(plural("… and {number} more element", "… and {number} more elements", more))
        )
    return tuple(segments)
