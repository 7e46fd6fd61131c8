"""LW303: many items into a send that nothing guards."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import CLAIM, COMPLETE, MARK, SEND, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_CLOCK = step("scheduleTrigger", "Clock", rule={"interval": [{"field": "hours"}]})
_ROWS = step("googleSheets", "Rows", operation="read", documentId="list", sheetName="people")
_LOOP = step("splitInBatches", "Loop", batchSize=1)

RULE = Rule(
    code="LW303",
    name="many-items",
    level="error",
    what="A node that gives many items (a table, a list that is split) feeds a send that no"
    " mark guards.",
    why="When the run stops in the middle, nobody knows how far it came, and the next run"
    " starts again with the first.",
    fix="Claim each item by its own key (claim_jobs, or a loop of one with claim_job), and"
    " mark before each send.",
    also=frozenset({"LW301"}),
    bad=flow(_CLOCK, _ROWS, SEND),
    good=flow(
        _CLOCK,
        _ROWS,
        _LOOP,
        CLAIM,
        MARK,
        SEND,
        COMPLETE,
        wires="Clock > Rows > Loop; Loop:1 > Claim > Mark > Send > Complete > Loop",
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find open sends behind a node that makes several items."""
    for send in flow.open_sends:
        source = flow.several(send)
        if source is not None:
            yield Hit(
                send, f"it gets every item of {source.name}; a run that stops midway is not resumed"
            )
