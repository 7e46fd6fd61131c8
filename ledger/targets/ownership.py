"""Who may touch which field of which target: the list for the hand-over."""

from collections import defaultdict
from dataclasses import dataclass

import psycopg

from ledger.models import AllowedTransition, FieldOwnership, Rule, Target

HEAD = ("field", "who may write it", "remarks")
# Rights on the table itself, and on single columns, of everybody but its owner.
_PAST = """
SELECT DISTINCT coalesce(r.rolname::text, 'everybody') FROM (
    SELECT c.relacl AS acl FROM pg_class c WHERE c.oid = to_regclass(%(table)s)
    UNION ALL SELECT a.attacl FROM pg_attribute a WHERE a.attrelid = to_regclass(%(table)s)
) t, aclexplode(t.acl) x LEFT JOIN pg_roles r ON r.oid = x.grantee
WHERE x.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
    AND x.grantee <> (SELECT c.relowner FROM pg_class c WHERE c.oid = to_regclass(%(table)s))
ORDER BY 1
"""
_COLUMNS = """
SELECT attname::text FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


@dataclass(frozen=True)
class Sheet:
    """One target: a heading, a row per field, and notes below."""

    title: str
    rows: list[tuple[str, str, str]]
    notes: list[str]


def sheets(owner: psycopg.Connection, names: list[str]) -> list[Sheet]:
    """Return a sheet for each target, or for those named."""
    targets = Target.objects.order_by("name")
    return [_sheet(owner, each) for each in (targets.filter(name__in=names) if names else targets)]


def _sheet(owner: psycopg.Connection, target: Target) -> Sheet:
    """Put together what is registered about a target and what its table says."""
    columns = [name for (name,) in owner.execute(_COLUMNS, [target.table]).fetchall()]
    owned: dict[str, list[FieldOwnership]] = defaultdict(list)
    for row in FieldOwnership.objects.filter(target=target.name).order_by("workflow"):
        owned[row.field].append(row)
    rules = list(Rule.objects.filter(target=target.name).order_by("name"))
    gone = sorted(set(owned) - set(columns))
    rows = [_row(target, name, owned[name], rules) for name in columns]
    rows += [(name, _who(owned[name]), "the table has no such column") for name in gone]
    place = (target.table or "").replace('"', "") or "outside this database"
    whose = f" of client {target.client_id}" if target.client_id else ""
    return Sheet(f"{target.name}{whose} ({place})", rows, _notes(owner, target, rules))


def _row(
    target: Target, name: str, owners: list[FieldOwnership], rules: list[Rule]
) -> tuple[str, str, str]:
    """Say about one field who writes it and what is special about it."""
    if name == target.pk_column:
        return name, "nobody", "names the record"
    if name == target.revision_column:
        return name, "the database alone", "counts the versions"
    remarks = []
    if any(owner.sensitive for owner in owners):
        remarks.append("sensitive: a collision always goes to a person")
    if name == target.status_column:
        remarks.append("moves only where the table of moves allows it")
    remarks += [f"rule {rule.name}" for rule in rules if not rule.fields or name in rule.fields]
    return name, _who(owners), "; ".join(remarks)


def _who(owners: list[FieldOwnership]) -> str:
    """Name the workflows that own a field, and whether one does alone."""
    if not owners:
        return "nobody"
    alone = " (alone)" if any(owner.exclusive for owner in owners) else ""
    return ", ".join(owner.workflow for owner in owners) + alone


def _notes(owner: psycopg.Connection, target: Target, rules: list[Rule]) -> list[str]:
    """Say what holds for the whole target."""
    notes = [f"rule {rule.name} reads {', '.join(rule.reads) or 'no table'}" for rule in rules]
    machine = f"{target.name}.{target.status_column}"
    moves = AllowedTransition.objects.filter(machine=machine).order_by("from_state", "to_state")
    if target.status_column:
        told = ", ".join(f"{m.from_state} to {m.to_state}" for m in moves)
        notes.append(f"moves of {target.status_column}: {told or 'none is listed, so any'}")
    past = [name for (name,) in owner.execute(_PAST, {"table": target.table}).fetchall()]
    if past:
        notes.append(f"logins that may write the table past the ledger: {', '.join(past)}")
    return notes


# -- on paper --------------------------------------------------------------------------------------


def as_markdown(sheet: Sheet) -> str:
    """Return a sheet as a Markdown section."""
    cells = [HEAD, ("---",) * len(HEAD), *sheet.rows]
    table = "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells
    )
    notes = "".join(f"\n- {note}" for note in sheet.notes)
    return f"## {sheet.title}\n\n{table}\n{notes}"


def as_text(sheet: Sheet) -> str:
    """Return a sheet with its columns under each other."""
    rows = [HEAD, *sheet.rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEAD))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join([sheet.title, *(f"  {line}" for line in lines), *sheet.notes])
