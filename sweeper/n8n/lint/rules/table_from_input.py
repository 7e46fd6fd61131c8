"""LW403: the name of a table comes from the item."""

import re
from collections.abc import Iterator

from sweeper.n8n.lint import fields, js, nodes, sql, statements, trace, values
from sweeper.n8n.lint.example import TRIGGER, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node


def _insert(table: str) -> dict[str, object]:
    columns = {"mappingMode": "defineBelow", "value": {"mail": "={{ $json.mail }}"}}
    return step("postgres", "Lead", operation="insert", table=table, columns=columns)


RULE = Rule(
    code="LW403",
    name="table-from-input",
    level="error",
    what="A table is named by an expression: in the node's Table, behind FROM, INTO or UPDATE,"
    " or in a CREATE TABLE that the workflow runs or writes.",
    why="The sender chooses which table is written. Cleaned names collide (a-b and a_b become"
    " one table), and long ones are cut.",
    fix="One table with a column for the client. Where each client needs a table, register"
    " them: manage.py register_target … --client.",
    bad=flow(TRIGGER, _insert("=leads_{{ $json.client }}")),
    good=flow(TRIGGER, _insert("leads")),
)

_WRITING = ("insert", "update", "upsert", "delete", "deleteTable", "create")
_DDL = re.compile(
    r"\b(CREATE|DROP|ALTER|TRUNCATE)\s+TABLE\b[^;`]{0,60}?(\$\{|\{\{|['\"]\s*\+)", re.IGNORECASE
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find tables named by an expression: in forms, queries and programs that write queries."""
    for node in flow.workflow.nodes:
        words = _named_by(flow, node)
        if words:
            yield Hit(node, words)


def _named_by(flow: Flow, node: Node) -> str:
    if (node.kind in nodes.SQL or node.kind == "supabase") and node.operation in _WRITING:
        for name in ("table", "tableId", "schema"):
            given = values.of_field(node.text(name))
            fixed = isinstance(trace.settled(flow.workflow, node, given), values.Literal)
            if js.expressions(node.text(name)) and not fixed:
                return f"its {name} is named by an expression"
    if node.kind in nodes.SQL and node.operation == "executeQuery":
        text = node.text("query")
        if "{{" in text:
            read = sql.read(text, fields.dialect(node))
            if any(statements.is_stand_in(each.table) for each in read.statements) or _DDL.search(
                text
            ):
                return "an expression stands where the query names a table"
    code = nodes.program(node)
    return "it writes DDL with a name from its item" if code and _DDL.search(code) else ""
