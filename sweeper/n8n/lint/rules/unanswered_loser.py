"""LW211: a caller that waits for an answer which a lost item never gives."""

from collections.abc import Iterator

from sweeper.n8n.lint import graph, guards
from sweeper.n8n.lint.example import ANSWER, CLAIM, COMPLETE, HOOK, MARK, SEND, by_sql, flow, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_OPEN = by_sql(
    "Claim",
    "claim_job",
    "{ workflow: 'mail', effect: 'receipt', event: { id: $json.body.id } }",
    only="",
)

RULE = Rule(
    code="LW211",
    name="unanswered-loser",
    level="warning",
    what="A webhook answers when the workflow has come to its end or to a Respond node, and a"
    " gate before that ends the run of a duplicate.",
    why="The branch stops without an item, n8n answers 500, and the provider delivers the"
    " duplicate again.",
    fix="Let claim_job give its outcome, branch on it, and put a Respond node on every branch.",
    bad=flow(HOOK, CLAIM, MARK, SEND, COMPLETE, ANSWER),
    good=flow(
        HOOK,
        _OPEN,
        when("Won?", "={{ $json.outcome }}", "won"),
        MARK,
        SEND,
        COMPLETE,
        ANSWER,
        {**ANSWER, "name": "Known"},
        wires="Hook > Claim > Won? > Mark > Send > Complete > Answer; Won?:1 > Known",
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find gates of duplicates that end a run before anything answered its caller."""
    waiting = [
        node
        for node in flow.workflow.of("webhook")
        if node.text("responseMode") in ("lastNode", "responseNode")
    ]
    answers = flow.workflow.of("respondToWebhook")
    for hook in waiting:
        unanswered = graph.after(flow.workflow, hook, past=answers)
        for node in flow.claims:
            if node in unanswered and _ends(flow, node):
                yield Hit(node, f"a duplicate ends here, and {hook.name} answers its caller 500")


def _ends(flow: Flow, node: Node) -> bool:
    call = flow.calls.get(node)
    if call is None or node.on_error == "continueErrorOutput":
        return False
    return guards.filters(node, call, guards.WON | {"replay", "empty"})
