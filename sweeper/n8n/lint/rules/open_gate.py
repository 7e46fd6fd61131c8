"""LW204: a gate that is told to let everything through."""

from collections.abc import Iterator

from sweeper.n8n.lint import conditions, doors, guards, nodes
from sweeper.n8n.lint.example import COMPLETE, MARK, SEND, TRIGGER, by_sql, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_ARGUMENT = "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id } }"

RULE = Rule(
    code="LW204",
    name="open-gate",
    level="error",
    what="A node that decides who may go on has “Always Output Data”, or its error goes on"
    " along the regular output (Continue, Continue On Fail).",
    why="Then the loser, or a call that never reached the ledger, goes on like a winner:"
    " eight of eight sent.",
    fix="Switch both off. For an error path of its own take “Continue (using error output)”.",
    also=frozenset({"LW206", "LW301"}),
    bad=flow(
        TRIGGER,
        by_sql("Claim", "claim_job", _ARGUMENT, alwaysOutputData=True),
        MARK,
        SEND,
        COMPLETE,
    ),
    good=flow(
        TRIGGER,
        by_sql("Claim", "claim_job", _ARGUMENT, onError="continueErrorOutput"),
        MARK,
        SEND,
        COMPLETE,
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find gates with one of the two switches on."""
    for node in flow.workflow.nodes:
        if not _decides(flow, node):
            continue
        if node.always_output:
            yield Hit(node, "“Always Output Data” sends an empty item on where there was no answer")
        if node.on_error == "continueRegularOutput":
            yield Hit(
                node, "its error goes on along the regular output, as if the call had been won"
            )


def _decides(flow: Flow, node: Node) -> bool:
    call = flow.calls.get(node)
    if call is not None:
        return call.operation not in doors.READS
    return guards.raw_gate(node) is not None or _reads_outcome(flow, node)


def _reads_outcome(flow: Flow, node: Node) -> bool:
    """Whether a branch tests what a call of the ledger answered."""
    if not flow.calls or not nodes.branches(node):
        return False
    tests = [test for each in conditions.promises(node).values() for test in each]
    return any(test.names[-1] in ("outcome", "statusCode") for test in tests if test.names)
