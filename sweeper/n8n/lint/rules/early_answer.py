"""LW306: the caller is told "taken" before anything durable says so."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, nodes, sql
from sweeper.n8n.lint.example import ANSWER, COMPLETE, HOOK, MARK, SEND, by_sql, flow, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_CLAIM = by_sql(
    "Claim",
    "claim_job",
    "{ workflow: 'mail', effect: 'receipt', event: { id: $json.body.id } }",
    only="",
)
_WON = when("Won?", "={{ $json.outcome }}", "won")
_WIRES = "Hook > Claim > Won? > Mark > Send > Complete > Answer; Won?:1 > Known"

RULE = Rule(
    code="LW306",
    name="early-answer",
    level="error",
    what="A webhook answers at once (“Immediately” is the default), or a Respond node comes"
    " before the claim or the record, and an effect follows.",
    why="The provider takes the answer as a receipt and never delivers again; if the run dies"
    " now, the event is lost without a trace.",
    fix="Answer through a Respond node behind claim_job, enqueue_job or post_failed_job: 2xx"
    " only once something durable is written, an error otherwise.",
    bad=flow(HOOK, ANSWER, _CLAIM, _WON, MARK, SEND, COMPLETE),
    good=flow(
        HOOK, _CLAIM, _WON, MARK, SEND, COMPLETE, ANSWER, {**ANSWER, "name": "Known"}, wires=_WIRES
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find answers that come before a record, where an effect or a record comes after."""
    records = {node for node in flow.workflow.nodes if _records(flow, node)}
    matters = records | set(flow.sends)
    for hook in flow.workflow.of("webhook"):
        behind = graph.after(flow.workflow, hook)
        if hook.text("responseMode") == "onReceived":
            if behind & matters:
                yield Hit(hook, "it answers at once, before anything is recorded")
            continue
        unrecorded = graph.after(flow.workflow, hook, past=records)
        for answer in flow.workflow.of("respondToWebhook"):
            if answer in unrecorded and graph.after(flow.workflow, answer) & matters:
                yield Hit(
                    answer, "it answers before anything is recorded, and the work comes after"
                )


def _records(flow: Flow, node: Node) -> bool:
    call = flow.calls.get(node)
    if call is not None:
        return call.operation in doors.RECORDS
    if node.kind not in nodes.SQL or node.operation != "executeQuery":
        return False
    return any(
        each.verb == "insert" and each.table in ("idem", "jobs", "processed_items", "failed_jobs")
        for each in sql.read(node.text("query")).statements
    )
