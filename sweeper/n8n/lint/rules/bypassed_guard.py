"""LW506: a registered table written past the guard."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, sql, statements
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, query
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import Known, Target
from sweeper.n8n.lint.model import Node

RULE = Rule(
    code="LW506",
    name="bypassed-guard",
    level="error",
    what="A node updates or upserts a registered target itself, without the version it read,"
    " instead of calling write_fields. Known to deploy_check, which reads the registry.",
    why="It overwrites whatever changed since the read, answers ok to the winner and to the"
    " loser, and no rule of the target is checked.",
    fix="Use write_fields with expected_revision and only the fields this workflow owns.",
    bad=flow(
        TRIGGER,
        query("Plan", "UPDATE customers SET plan = $1 WHERE id = $2", "$json.plan", "$json.id"),
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
    known=Known(targets=(Target("customers", "customers"),)),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find unversioned overwrites of registered targets."""
    told: set[Node] = set()
    for write in fields.writes(flow):
        target = flow.known.target(write.store) if write.store else None
        if target is None or target.external or write.way == "operation" or not write.overwrites:
            continue
        if write.node not in told and not _versioned(write.node):
            told.add(write.node)
            yield Hit(
                write.node, f"it overwrites {target.name} past write_fields, whatever changed since"
            )


def _versioned(node: Node) -> bool:
    if node.operation != "executeQuery":
        return False
    found = sql.read(node.text("query"), fields.dialect(node)).statements
    return any(statements.is_versioned(each) for each in found if each.verb == "update")
