"""The compare of a refused change: three columns, the choice per field, and what it would write."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ledger.models import Conflict, RecordHistory
from review.compare import Cell, Comparison, Row, compare
from review.items.page import Column, FieldPart, FieldRow, Version
from review.items.reading import Side, side
from review.items.stories import version
from review.jsonvalue import MISSING
from review.marks import Segment
from review.merge import Line, Outcome, Pick, default_picks, outcome, read_picks
from review.text import listed, shown

_HIDDEN = (Segment("••••"),)


def choices(
    comparison: Comparison, attempted: Any, form: Mapping[str, str] | None
) -> tuple[dict[str, Pick], list[str]]:
    """Return the choice per attempted field and the order in which the form numbers them."""
    names = sorted(attempted) if isinstance(attempted, dict) else []
    picks = read_picks(comparison, form, names) if form else default_picks(comparison)
    return picks, names


def field_part(
    conflict: Conflict,
    now: RecordHistory | None,
    revision_column: str,
    versions: list[Version],
    owned: Mapping[str, tuple[list[str], bool]],
    form: Mapping[str, str] | None,
    *,
    choosing: bool,
    allowed: bool,
) -> FieldPart:
    """Build the compare of a field change against the record as it is at this moment."""
    base, attempted, current = sides(conflict, now, revision_column)
    comparison = compare(base.value, attempted.value, current.value)
    picks, names = choices(comparison, attempted.value, form)
    written = outcome(attempted.value, current.value, picks) if picks and choosing else None
    found = str(now.revision) if now else conflict.version_found or ""
    columns = (
        Column(
            f"Read · {version(conflict.version_read)}", f"what {shown(conflict.workflow, 60)} saw"
        ),
        Column("Attempted", f"by {shown(conflict.workflow, 60)}", conflict.created_at),
        Column(
            f"Now · {version(found)}",
            f"by {shown(now.by_workflow or '(direct SQL)', 60)}"
            if now
            else "as found by the loser",
            now.at if now else conflict.created_at,
        ),
    )
    rows = tuple(
        _field_row(row, picks, names, owned, written, open_for_choice=choosing)
        for row in comparison.rows
    )
    after = str(int(found) + 1) if found.isdigit() and written and written.changes else found
    part = FieldPart(
        columns, rows, comparison, written, version(found), version(after), tuple(versions)
    )
    return part if allowed else _hide(part)


def sides(
    conflict: Conflict, now: RecordHistory | None, revision_column: str
) -> tuple[Side, Side, Side]:
    """Read the three sides; the current one is the newest stored version, not the remembered one.

    The revision is the heading of a column, not a field to compare.
    """
    base = side(conflict.base_snapshot_text)
    attempted = side(conflict.attempted_text)
    current = side(now.row_text) if now else side(conflict.current_snapshot_text)
    for each in (base, current):
        if isinstance(each.value, dict):
            each.value.pop(revision_column, None)
    return base, attempted, current


def _field_row(
    row: Row,
    picks: Mapping[str, Pick],
    names: list[str],
    owned: Mapping[str, tuple[list[str], bool]],
    written: Outcome | None,
    *,
    open_for_choice: bool,
) -> FieldRow:
    owner, sensitive = owned.get(row.name, ([], False))
    choosable = open_for_choice and row.name in picks
    return FieldRow(
        row=row,
        number=names.index(row.name) if choosable else None,
        pick=picks.get(row.name),
        owner=_ownership([shown(name, 40) for name in owner]),
        sensitive=sensitive,
        problem=written.problems.get(row.name, "") if written else "",
    )


def _ownership(owners: list[str]) -> str:
    if not owners:
        return ""
    return f"owned by {owners[0]}" if len(owners) == 1 else f"shared by {listed(owners)}"


def two_sided(conflict: Conflict, labels: tuple[str, str], *, allowed: bool) -> FieldPart:
    """Compare what is stored with what came: two columns, nothing to choose per field."""
    stored = side(conflict.current_snapshot_text, wrapped=True)
    arrived = side(conflict.attempted_text, wrapped=True)
    base = stored.value if stored.usable else MISSING
    comparison = compare(base, arrived.value, base)
    rows = tuple(FieldRow(row, None, None) for row in comparison.rows)
    columns = (
        Column(labels[0]),
        Column(labels[1], f"by {shown(conflict.workflow, 60)}", conflict.created_at),
    )
    part = FieldPart(columns, rows, comparison, None, "", "", two_sided=True)
    return part if allowed else _hide(part)


def _hide(part: FieldPart) -> FieldPart:
    """Keep the names and who changed what; drop every value."""
    rows = tuple(replace(each, row=_hidden_row(each.row)) for each in part.rows)
    comparison = replace(
        part.comparison,
        rows=tuple(each.row for each in rows),
        same=tuple(_hidden_row(row) for row in part.comparison.same),
    )
    written = part.written and replace(
        part.written,
        changes={},
        lines=tuple(Line(line.name, "••••", line.written) for line in part.written.lines),
    )
    return replace(part, rows=rows, comparison=comparison, written=written, hidden=True)


def _hidden_row(row: Row) -> Row:
    return replace(
        row,
        base=_hidden_cell(row.base),
        attempted=_hidden_cell(row.attempted),
        current=_hidden_cell(row.current),
        nested=(),
        nested_more=False,
    )


def _hidden_cell(cell: Cell) -> Cell:
    return Cell(cell.type, _HIDDEN if cell.segments else ())
