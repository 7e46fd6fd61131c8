"""LW504: the later time wins."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, nodes, sql
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, query
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_BAD = query(
    "Keep newest",
    "UPDATE customers SET plan = $1 WHERE id = $2 AND updated_at < $3",
    "$json.plan",
    "$json.id",
    "$json.changed",
)

RULE = Rule(
    code="LW504",
    name="newest-wins",
    level="error",
    what="A write is kept or dropped by comparing times that the caller brings (updated_at < $3).",
    why="The writer states its own order. Clocks differ and seconds collide, and the change"
    " that loses is gone though the check ran.",
    fix="Carry the revision that was read, as the store assigned it: write_fields with"
    " expected_revision.",
    bad=flow(TRIGGER, _BAD),
    good=flow(
        TRIGGER,
        by_sql(
            "Write",
            "write_fields",
            "{ workflow: 'billing', target: 'customers',"
            " record_key: $json.customer, expected_revision: $json.revision,"
            " changes: { plan: $json.plan }, event: { id: $json.id } }",
        ),
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find updates and upserts that a caller's time decides."""
    for node in flow.workflow.of(*nodes.SQL):
        if node.operation != "executeQuery":
            continue
        for each in sql.read(node.text("query"), fields.dialect(node)).statements:
            if each.verb in ("update", "insert") and each.newest_wins:
                yield Hit(
                    node, f"{each.newest_wins}, which the caller brings, decides what is kept"
                )
