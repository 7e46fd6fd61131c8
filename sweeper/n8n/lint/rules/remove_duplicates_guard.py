"""LW205: Remove Duplicates in the place of a claim."""

from collections.abc import Iterator

from sweeper.n8n.lint import graph
from sweeper.n8n.lint.example import GUARDED, SEND, TRIGGER, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_SEEN = step(
    "removeDuplicates",
    "Once",
    operation="removeItemsSeenInPreviousExecutions",
    dedupeValue="={{ $json.id }}",
)

RULE = Rule(
    code="LW205",
    name="remove-duplicates-guard",
    level="error",
    what="Remove Duplicates, over previous executions, stands before a send as its only guard.",
    why="It reads and writes its memory in two steps: of fifty keys delivered in pairs,"
    " forty-five were sent twice. What it forgets, and when, nobody is told.",
    fix="Claim the event with claim_job. Keep the node only to save work, not to be safe.",
    also=frozenset({"LW301"}),
    bad=flow(TRIGGER, _SEEN, SEND),
    good=flow(TRIGGER, _SEEN, *GUARDED[1:]),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find the node on the way to a send that no mark guards."""
    for node in flow.workflow.of("removeDuplicates"):
        if node.operation != "removeItemsSeenInPreviousExecutions":
            continue
        behind = graph.after(flow.workflow, node)
        send = next((each for each in flow.open_sends if each in behind), None)
        if send is not None:
            yield Hit(node, f"it is all that keeps {send.name} from sending the same again")
