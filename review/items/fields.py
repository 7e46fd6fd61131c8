"""The compare of a refused change: three columns, the choice per field, and what it would write."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledger.models import Conflict, RecordHistory
from review.compare import Cell, Change, Comparison, Row, compare
from review.items.parts import Column, FieldPart, FieldRow, Version
from review.items.reading import Owners, Side, side, text_of
from review.items.stories import version
from review.jsonvalue import MISSING
from review.language import _
from review.marks import Segment
from review.merge import Line, Outcome, Pick, default_picks, outcome, read_picks
from review.text import actor, listed, shown

_HIDDEN = (Segment("••••"),)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a compare stands on beside the conflict: the record now, its owners, the form."""

    now: RecordHistory | None = None
    newest: Version | None = None
    revision_column: str = ""
    versions: list[Version] = field(default_factory=list)
    owned: Owners = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    choosing: bool = False
    allowed: bool = False
    # Who looks may not write the row: the choices are shown, but not theirs.
    closed: bool = False


def choices(
    comparison: Comparison,
    attempted: Any,
    form: Mapping[str, str] | None,
    refused: Collection[str] = (),
) -> tuple[dict[str, Pick], list[str]]:
    """Return the choice per attempted field and the order in which the form numbers them."""
    names = sorted(attempted) if isinstance(attempted, dict) else []
    picks = default_picks(comparison, refused)
    return (read_picks(picks, form, names) if form else picks), names


def field_part(conflict: Conflict, ground: Ground) -> FieldPart:
    """Build the compare of a field change against the record as it is at this moment."""
    base, attempted, current = sides(conflict, ground.now, ground.revision_column)
    comparison = compare(base.value, attempted.value, current.value)
    picks, names = choices(comparison, attempted.value, ground.form, ground.refused)
    written = None
    if picks and ground.choosing:
        written = outcome(attempted.value, current.value, picks)
    found = str(ground.now.revision) if ground.now else conflict.version_found or ""
    part = FieldPart(
        columns=_columns(conflict, ground.newest, found),
        rows=tuple(_field_row(row, picks, names, ground, written) for row in comparison.rows),
        comparison=comparison,
        written=written,
        version_now=version(found),
        after=_after(conflict, found, written),
        version_read=version(conflict.version_read),
        versions=tuple(ground.versions),
        closed=ground.closed,
    )
    return part if ground.allowed else hide(part)


def to_choose(part: FieldPart) -> str:
    """Say what of an attempt can stand beside what others wrote; empty where nothing differs."""
    rows = [each.row for each in part.rows if each.row.in_attempt]
    free, clash = (
        listed([shown(row.name, 40) for row in rows if row.change is change], most=3)
        for change in (Change.ATTEMPTED, Change.CLASH)
    )
    words = ""
    if free and clash:
        words = _(
            "{free} can be written as well; of {clash} one value can stay, now the one that is "
            "there."
        )
    elif clash:
        words = _("Of {clash} one value can stay, now the one that is there.")
    elif free:
        words = _("Nobody else wrote {free}: it can be written as well.")
    return words.format(free=free, clash=clash)


def _columns(conflict: Conflict, newest: Version | None, found: str) -> tuple[Column, ...]:
    workflow = actor(conflict.workflow, 60)
    return (
        Column(
            _("Read · {version}").format(version=version(conflict.version_read)),
            _("what {workflow} saw").format(workflow=workflow),
        ),
        Column(_("Attempted"), _("by {who}").format(who=workflow), conflict.created_at),
        Column(
            _("Now · {version}").format(version=version(found)),
            _writer(newest),
            newest.at if newest else conflict.created_at,
        ),
    )


def _writer(newest: Version | None) -> str:
    """Say who wrote what is there now; of a person, what they did."""
    if newest is None:
        return _("as the loser found it")
    words = _("{did} by {who}") if newest.item else _("by {who}")
    return words.format(did=newest.verb, who=shown(newest.who, 60))


def _after(conflict: Conflict, found: str, written: Outcome | None) -> str:
    """Say at which version the outcome is written, or that nothing is."""
    if written is None or not written.changes:
        return _("nothing; stays at {version}").format(version=version(found))
    if conflict.external:
        return _("told to {workflow}").format(workflow=actor(conflict.workflow, 60))
    if found.isdigit():
        words = _("at {version} → {after}")
        return words.format(version=version(found), after=version(int(found) + 1))
    return _("at {version}").format(version=version(found))


def sides(
    conflict: Conflict, now: RecordHistory | None, revision_column: str
) -> tuple[Side, Side, Side]:
    """Read the three sides; the current one is the newest stored version, not the remembered one.

    The revision is the heading of a column, not a field to compare.
    """
    base = side(text_of(conflict, "base_snapshot"))
    attempted = side(text_of(conflict, "attempted"))
    current = side(text_of(now, "row") if now else text_of(conflict, "current_snapshot"))
    for each in (base, current):
        if isinstance(each.value, dict):
            each.value.pop(revision_column, None)
    return base, attempted, current


def _field_row(
    row: Row,
    picks: Mapping[str, Pick],
    names: list[str],
    ground: Ground,
    written: Outcome | None,
) -> FieldRow:
    owner, sensitive = ground.owned.get(row.name, ([], False))
    return FieldRow(
        row=row,
        number=names.index(row.name) if written and row.name in picks else None,
        pick=picks.get(row.name),
        owner=_ownership([shown(name, 40) for name in owner]),
        sensitive=sensitive,
        problem=written.problems.get(row.name, "") if written else "",
        refused=ground.refused.get(row.name, ""),
    )


def _ownership(owners: list[str]) -> str:
    if not owners:
        return ""
    if len(owners) == 1:
        return _("owned by {owner}").format(owner=owners[0])
    return _("shared by {owners}").format(owners=listed(owners))


def two_sided(conflict: Conflict, labels: tuple[str, str], *, allowed: bool) -> FieldPart:
    """Compare what is stored with what came: two columns, nothing to choose per field."""
    stored = side(text_of(conflict, "current_snapshot"), wrapped=True)
    arrived = side(text_of(conflict, "attempted"), wrapped=True)
    base = stored.value if stored.usable else MISSING
    comparison = compare(base, arrived.value, base)
    by = _("by {who}").format(who=actor(conflict.workflow, 60))
    columns = (Column(labels[0]), Column(labels[1], by, conflict.created_at))
    return in_two_columns(columns, comparison, allowed=allowed)


def in_two_columns(
    columns: tuple[Column, Column], comparison: Comparison, *, allowed: bool
) -> FieldPart:
    """Show a comparison of which nothing is chosen."""
    part = FieldPart(
        columns=columns,
        rows=tuple(FieldRow(row, None, None) for row in comparison.rows),
        comparison=comparison,
        written=None,
        version_now="",
        after="",
        two_sided=True,
    )
    return part if allowed else hide(part)


def hide(part: FieldPart) -> FieldPart:
    """Keep the names and who changed what; drop every value."""
    rows = tuple(replace(each, row=_hidden_row(each.row)) for each in part.rows)
    comparison = replace(
        part.comparison,
        rows=tuple(each.row for each in rows),
        same=tuple(_hidden_row(row) for row in part.comparison.same),
    )
    written = part.written and replace(
        part.written,
        changes=dict.fromkeys(part.written.changes),
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
