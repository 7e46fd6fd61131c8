"""LW207: calls of several items in one transaction."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import CLAIM, COMPLETE, MARK, SEND, TRIGGER, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_LOOSE = {
    **CLAIM,
    "parameters": {
        **CLAIM["parameters"],
        "options": {
            k: v for k, v in CLAIM["parameters"]["options"].items() if k != "queryBatching"
        },
    },
}

RULE = Rule(
    code="LW207",
    name="batched-calls",
    level="error",
    what="A Postgres node that calls the ledger has Query Batching “Single Query” (the"
    " default) or “Transaction”.",
    why="All items share one transaction: an error on the third undoes the first two,"
    " conflict rows included, and two runs with another order deadlock.",
    fix="Set Query Batching to “Independently”.",
    bad=flow(TRIGGER, _LOOSE, MARK, SEND, COMPLETE),
    good=flow(TRIGGER, CLAIM, MARK, SEND, COMPLETE),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find calls by SQL that are not made one by one."""
    for node, call in flow.calls.items():
        if call.door == "sql" and not node.execute_once:
            found = node.text("options.queryBatching", "single")
            if found != "independently":
                yield Hit(node, f"Query Batching is “{found}”: its items share one transaction")
