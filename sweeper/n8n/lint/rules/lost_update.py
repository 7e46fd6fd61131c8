"""LW208: a versioned UPDATE whose loser leaves no trace."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, nodes, sql, statements
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, query
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW208",
    name="lost-update",
    level="warning",
    what="A query changes a row only at the version that was read (UPDATE … WHERE version ="
    " …), by itself and not by write_fields.",
    why="Who loses changes no row, and nothing is written down: nobody can look at the lost"
    " change later.",
    fix="Use write_fields: the loss becomes a conflict row, and after three tries a person"
    " decides.",
    bad=flow(
        TRIGGER,
        query(
            "Plan",
            "UPDATE customers SET plan = $1, version = version + 1 WHERE id = $2 AND version = $3",
            "$json.plan",
            "$json.id",
            "$json.version",
        ),
    ),
    good=flow(
        TRIGGER,
        by_sql(
            "Plan",
            "write_fields",
            "{ workflow: 'billing', target: 'customers',"
            " record_key: $json.customer, expected_revision: $json.revision,"
            " changes: { plan: $json.plan }, event: { id: $json.id } }",
        ),
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find updates that carry a version in their WHERE."""
    for node in flow.workflow.of(*nodes.SQL):
        if node.operation != "executeQuery":
            continue
        for each in sql.read(node.text("query"), fields.dialect(node)).statements:
            if each.verb == "update" and statements.is_versioned(each):
                yield Hit(node, f"whoever loses this update of {each.table} leaves no row behind")
