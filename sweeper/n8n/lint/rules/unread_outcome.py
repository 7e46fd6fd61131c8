"""LW206: an answer of the ledger that nobody reads."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, guards, nodes
from sweeper.n8n.lint.example import CLAIM, COMPLETE, SEND, TRIGGER, by_sql, flow, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Edge, Node

_BEAT = by_sql(
    "Beat",
    "heartbeat_job",
    "{ workflow: 'mail', job_id: $json.job_id, owner_token: $json.owner_token }",
    only="",
)
_MARK = by_sql(
    "Mark",
    "mark_sending",
    "{ workflow: 'mail', job_id: $('Claim').item.json.job_id,"
    " idem_key: $('Claim').item.json.idem_key, owner_token: $('Claim').item.json.owner_token }",
)

RULE = Rule(
    code="LW206",
    name="unread-outcome",
    level="error",
    what="A call that may be lost (claim, mark, heartbeat, a field write, a batch) is followed"
    " by more work, and neither the call nor a branch keeps back what did not win.",
    why="A loss is an answer, not an error: held_by_other, in_review or stale_version walk on"
    " as if won.",
    fix="Let only the won row out (WHERE outcome IN ('won'), or the HTTP door's default), or"
    " put a Switch on outcome behind it with a way for each answer.",
    bad=flow(TRIGGER, CLAIM, _BEAT, _MARK, SEND, COMPLETE),
    good=flow(
        TRIGGER,
        CLAIM,
        _BEAT,
        when("Still mine?", "={{ $json.outcome }}", "won"),
        _MARK,
        SEND,
        COMPLETE,
    ),
)

_DECIDING = doors.CLAIMS | {
    "mark_sending", "heartbeat_job", "write_fields", "start_batch", "advance_batch",
}  # fmt: skip
_GOOD = {
    "write_fields": frozenset({"won", "replay"}),
    "start_batch": frozenset({"won", "matched"}),
    "advance_batch": frozenset({"won", "replay"}),
}


def check(flow: Flow) -> Iterator[Hit]:
    """Find calls behind which work is reached on an edge that a lost item passes too."""
    for node, call in flow.calls.items():
        if call.operation not in _DECIDING:
            continue
        good = _GOOD.get(call.operation, guards.WON)
        won = guards.won(flow.workflow, node, good) | _other_ways(flow, node)
        work = next((each for each in _behind(flow, node, won) if _works(flow, each)), None)
        if work is not None:
            yield Hit(node, f"{work.name} runs whatever {call.operation} answered")


def _behind(flow: Flow, node: Node, won: set[Edge]) -> list[Node]:
    found = graph.after(flow.workflow, node, without=won, past=_readers(flow, node))
    return [each for each in flow.workflow.nodes if each in found]


def _readers(flow: Flow, node: Node) -> list[Node]:
    """Return the branches on its outcome: behind one, each way is a decision somebody took."""
    return [
        branch
        for branch in guards.closed_branches(flow.workflow)
        if any("outcome" in text or "statusCode" in text for _, text in branch.texts)
    ]


def _other_ways(flow: Flow, node: Node) -> set[Edge]:
    """Return its error output: what takes it knows that the call failed."""
    if node.on_error != "continueErrorOutput":
        return set()
    return {edge for edge in flow.workflow.ways_out.get(node, ()) if edge.output == 1}


def _works(flow: Flow, node: Node) -> bool:
    call = flow.calls.get(node)
    if call is not None:
        return call.operation not in doors.READS
    return node in flow.sends or (
        node.kind in nodes.DATABASES and node.operation not in ("select", "get")
    )
