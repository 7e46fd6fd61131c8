"""Which fields of which store a workflow writes, as far as its export says.

A write whose store or fields cannot be read is reported as such, with the reason: what ownership is
derived from must be known whole. Writes of the ledger's own tables are no field writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sweeper.n8n.lint import doors, js, nodes, sql, statements, trace, values
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

Way = Literal["operation", "sql", "node"]
_OWN_TABLES = frozenset(
    {"jobs", "idem", "processed_items", "failed_jobs", "batch_runs", "sweep_locks", "conflicts"}
)
_CHANGES = ("update", "upsert", "appendOrUpdate", "insert", "create", "append")
_OVERWRITES = frozenset({"update", "upsert", "appendOrUpdate"})


@dataclass(frozen=True)
class Write:
    """One field a node writes; no field and a reason where that cannot be read."""

    node: Node
    store: str
    field: str | None
    way: Way
    overwrites: bool = True
    whole: bool = False
    reason: str = ""


def writes(flow: Flow) -> list[Write]:
    """Return every field write of a workflow."""
    found: list[Write] = []
    for node in flow.workflow.nodes:
        call = flow.calls.get(node)
        if call is not None:
            if call.operation == "write_fields":
                found.extend(_operation(flow, node))
        elif node.kind in nodes.SQL and node.operation == "executeQuery":
            found.extend(_sql(node))
        else:
            found.extend(_mapped(node))
    return found


def _operation(flow: Flow, node: Node) -> Iterator[Write]:
    argument = trace.settled(flow.workflow, node, doors.argument(node))
    call = flow.calls[node]
    named = (
        call.path.get("target")
        if call.door == "http"
        else _plain(values.member(argument, "target"))
    )
    target = named if named and named != "x" else ""
    changes = trace.settled(flow.workflow, node, values.member(argument, "changes"))
    if not target:
        yield Write(node, "", None, "operation", reason="its target stands nowhere as a text")
    elif not isinstance(changes, values.Members):
        yield Write(
            node, target, None, "operation", reason="its changes stand nowhere as an object"
        )
    else:
        if changes.spread:
            words = "its changes have a member that is not named"
            yield Write(node, target, None, "operation", whole=True, reason=words)
        for field in changes.named:
            yield Write(node, target, field, "operation")


def _plain(value: values.Value | None) -> str:
    return value.value if isinstance(value, values.Literal) and isinstance(value.value, str) else ""


def _sql(node: Node) -> Iterator[Write]:
    query = sql.read(node.text("query"), dialect(node))
    if query.unread:
        yield Write(node, "", None, "sql", reason=f"its query cannot be read: {query.unread}")
    for each in query.statements:
        if each.verb not in ("insert", "update") or each.table in _OWN_TABLES:
            continue
        over = each.verb == "update" or each.conflict == "update"
        if statements.is_stand_in(each.table):
            yield Write(node, "", None, "sql", over, reason="its table comes from an expression")
        elif not each.columns:
            yield Write(node, each.table, None, "sql", over, reason="its columns are not listed")
        for column in each.columns:
            unread = statements.is_stand_in(column)
            reason = "a column comes from an expression" if unread else ""
            yield Write(node, each.table, None if unread else column, "sql", over, reason=reason)


def dialect(node: Node) -> str:
    """Return the name sqlglot has for the language of a node's query."""
    return {"mySql": "mysql", "microsoftSql": "tsql", "snowflake": "snowflake"}.get(
        node.kind, "postgres"
    )


def _mapped(node: Node) -> Iterator[Write]:
    """Read a write that a node offers as a form: columns with a value each, or all that come."""
    if node.disabled or node.operation not in _CHANGES:
        return
    store, over = _store(node), node.operation in _OVERWRITES
    columns = node.get("columns")
    mode = columns.get("mappingMode") if isinstance(columns, dict) else None
    mode = mode or node.text("dataMode") or node.text("dataToSend")
    if mode in ("autoMapInputData", "autoMap") or (
        mode == "" and node.kind == "postgres" and node.version >= 2
    ):
        words = "it writes whatever fields arrive"
        yield Write(node, store, None, "node", over, whole=True, reason=words)
        return
    matched = set(columns.get("matchingColumns") or ()) if isinstance(columns, dict) else set()
    for field in _listed(node, columns):
        if field not in matched:
            yield Write(node, store, field, "node", over)


def _store(node: Node) -> str:
    for name in ("table", "tableId", "sheetName", "tableName"):
        text = node.text(name)
        if text:
            return "" if text.startswith("=") else text
    return ""


def _listed(node: Node, columns: object) -> list[str]:
    if isinstance(columns, str):  # version 1: names separated by commas
        return [each.strip() for each in columns.split(",") if each.strip()]
    if isinstance(columns, dict) and isinstance(columns.get("value"), dict):
        return [str(name) for name in columns["value"]]
    rows = node.entries("valuesToSend.values") + node.entries("fieldsUi.fieldValues")
    return [str(row.get("column") or row.get("fieldId") or "") for row in rows]


def whole_item(text: str) -> bool:
    """Whether a body is the whole item and nothing chosen from it."""
    code = js.only_expression(text)
    value = values.of_code(code) if code is not None else None
    if isinstance(value, values.Members):
        value = values.Computed(value.spread[0]) if value.spread and not value.named else None
    reference = trace.whole_reference(value.code) if isinstance(value, values.Computed) else None
    return reference is not None and reference.path in ((), ("body",))
