"""LW203: a gate on a Postgres node that lets the empty answer through."""

from collections.abc import Iterator

from sweeper.n8n.lint import guards, sql
from sweeper.n8n.lint.example import COMPLETE, MARK, SEND, TRIGGER, by_sql, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_ARGUMENT = "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id } }"

RULE = Rule(
    code="LW203",
    name="old-gate-version",
    level="error",
    what="A query that claims runs on a Postgres node below type version 2.3, or without a"
    " version.",
    why="There a SELECT without a row gives one item {success: true}: the loser goes on as if"
    " it had won.",
    fix="Replace the node by a new one (2.3 or later); n8n never raises the version of an"
    " existing node.",
    also=frozenset({"LW206", "LW301"}),
    bad=flow(TRIGGER, by_sql("Claim", "claim_job", _ARGUMENT, version=2.2), MARK, SEND, COMPLETE),
    good=flow(TRIGGER, by_sql("Claim", "claim_job", _ARGUMENT, version=2.3), MARK, SEND, COMPLETE),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find claims and claim-like queries on old nodes."""
    for node in flow.workflow.of("postgres"):
        if node.version < guards.ENDS_EMPTY and _claims(flow, node):
            yield Hit(
                node, f"type version {node.version:g} lets the loser on; gates need 2.3 or later"
            )


def _claims(flow: Flow, node: Node) -> bool:
    if node in flow.calls:
        return True
    if node.operation != "executeQuery":
        return False
    return any(
        (each.verb == "insert" and each.conflict == "nothing" and each.returning)
        or (each.verb == "update" and each.returning and {"state", "status"} & each.guards)
        or (each.verb == "select" and each.locks)
        for each in sql.read(node.text("query")).statements
    )
