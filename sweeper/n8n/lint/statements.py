"""One statement as rules look at it: its verb, table and columns, and what its WHERE asks."""

import re
from dataclasses import dataclass, field, replace

from sqlglot import exp

# What stands for an expression of n8n in the text that the parser reads.
STAND_IN = "n8n_value_"
_VERSIONS = re.compile(r"(^|_)(version|revision|rev|etag|lock_version|row_version)$", re.IGNORECASE)
_TIMES = re.compile(
    r"^(updated|modified|changed|last_modified|last_updated|date_modified|edited|synced)"
    r"(_?(at|on|time|date|ts))?$|timestamp$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One statement: what it is, its table, the columns it sets and those its WHERE asks for."""

    verb: str  # select, insert, update, delete, create, other
    table: str = ""
    columns: tuple[str, ...] = ()
    guards: frozenset[str] = frozenset()
    conflict: str = ""  # nothing, update or '' for an INSERT without ON CONFLICT
    returning: bool = False
    top: bool = True  # False inside WITH
    literals: dict[str, frozenset[str]] = field(default_factory=dict)
    newest_wins: str = ""
    minutes: int = 0  # of a fixed interval that a lease is measured by
    locks: bool = False


def is_stand_in(name: str) -> bool:
    """Whether a name in a statement is, or holds, an expression of n8n."""
    return STAND_IN in name


def statements(tree: exp.Expr) -> list[Statement]:
    """Return the statements of a parsed text, those inside WITH too."""
    found = []
    for part in tree.walk():
        if isinstance(
            part, exp.Select | exp.Insert | exp.Update | exp.Delete | exp.Create | exp.Merge
        ):
            if isinstance(part, exp.Select) and part is not tree:
                continue
            found.append(_statement(part, top=part is tree))
    return found or [Statement("other")]


def _statement(part: exp.Expr, *, top: bool) -> Statement:
    made = Statement("other", _table(part), top=top)
    where = part.args.get("where")
    returning = part.args.get("returning") is not None
    if isinstance(part, exp.Insert):
        kept_if = _conflict_where(part)
        return replace(
            made, verb="insert", columns=_insert_columns(part), guards=_guards(kept_if),
            conflict=_conflict(part), returning=returning, newest_wins=_newest(kept_if),
        )  # fmt: skip
    if isinstance(part, exp.Create):
        return replace(made, verb="create")
    made = replace(made, guards=_guards(where), literals=literals(where), minutes=_minutes(where))
    if isinstance(part, exp.Update):
        return replace(
            made, verb="update", columns=_update_columns(part), returning=returning,
            newest_wins=_newest(where),
        )  # fmt: skip
    if isinstance(part, exp.Delete):
        return replace(made, verb="delete", returning=returning)
    if isinstance(part, exp.Select):
        return replace(made, verb="select", locks=bool(part.args.get("locks")))
    return made


def _table(part: exp.Expr) -> str:
    of = (
        part.args.get("from_") or part.args.get("from")
        if isinstance(part, exp.Select)
        else part.this
    )
    found = of.find(exp.Table) if isinstance(of, exp.Expr) else None
    if found is None or isinstance(found.this, exp.Func):
        return ""
    name: str = found.name
    return name if found.db in ("", "public") else f"{found.db}.{name}"


def _insert_columns(part: exp.Insert) -> tuple[str, ...]:
    into = part.this
    columns = tuple(each.name for each in into.expressions) if isinstance(into, exp.Schema) else ()
    conflict = part.args.get("conflict")
    changed = conflict.args.get("expressions") or () if conflict is not None else ()
    further = tuple(each.this.name for each in changed if isinstance(each, exp.EQ))
    return tuple(dict.fromkeys(columns + further))


def _update_columns(part: exp.Update) -> tuple[str, ...]:
    found: list[str] = []
    for each in part.expressions:
        if isinstance(each, exp.EQ):
            left = each.this
            found.extend(
                one.name for one in (left.expressions if isinstance(left, exp.Tuple) else [left])
            )
    return tuple(found)


def _conflict(part: exp.Insert) -> str:
    found = part.args.get("conflict")
    if found is None:
        return "nothing" if part.args.get("ignore") else ""
    return "update" if found.args.get("expressions") else "nothing"


def _conflict_where(part: exp.Insert) -> exp.Expr | None:
    found = part.args.get("conflict")
    where = found.args.get("where") if found is not None else None
    return where if isinstance(where, exp.Expr) else None


def _guards(where: exp.Expr | None) -> frozenset[str]:
    if where is None:
        return frozenset()
    return frozenset(each.name.lower() for each in where.find_all(exp.Column))


def literals(where: exp.Expr | None) -> dict[str, frozenset[str]]:
    """Return the texts that columns are compared with: state = 'queued', outcome IN ('won')."""
    found: dict[str, frozenset[str]] = {}
    for each in where.find_all(exp.EQ, exp.In) if where is not None else ():
        column = each.this
        sides = each.expressions if isinstance(each, exp.In) else [each.expression]
        if (
            isinstance(column, exp.Column)
            and sides
            and all(isinstance(s, exp.Literal) for s in sides)
        ):
            found[column.name.lower()] = frozenset(str(side.this) for side in sides)
    return found


def _newest(where: exp.Expr | None) -> str:
    """Name the time that decides which write is kept, '' where none does."""
    for each in where.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE) if where is not None else ():
        sides = (each.this, each.expression)
        for column, other in (sides, sides[::-1]):
            if (
                isinstance(column, exp.Column)
                and _TIMES.search(column.name)
                and _from_caller(other)
            ):
                return str(column.name)
    return ""


def _from_caller(part: exp.Expr) -> bool:
    """Whether a value comes from the caller and not from the database's clock."""
    if part.find(exp.CurrentTimestamp, exp.CurrentDate, exp.Interval) is not None:
        return False
    if part.find(exp.Parameter, exp.Placeholder) is not None:
        return True
    return any(
        is_stand_in(each.name) or each.table.lower() == "excluded"
        for each in part.find_all(exp.Column)
    )


def _minutes(where: exp.Expr | None) -> int:
    """Return the fixed minutes after which ``claimed_at`` is too old, 0 where there are none."""
    if where is None or "claimed_at" not in _guards(where):
        return 0
    for each in where.find_all(exp.Interval):
        if isinstance(each.this, exp.Literal) and each.find(exp.Column) is None:
            words = f"{each.this.this} {each.args.get('unit') or ''}".lower().split()
            amount = re.match(r"\d+", words[0])
            unit = {"m": 1, "h": 60, "s": 0}.get(words[1][0] if len(words) > 1 else "", 0)
            return int(amount[0]) * unit if amount else 0
    return 0


def is_versioned(statement: Statement) -> bool:
    """Whether a write carries the version it read in its WHERE."""
    return any(_VERSIONS.search(name) for name in statement.guards)
