"""LW101: a key that is different each time the workflow runs."""

from collections.abc import Iterator

from sweeper.n8n.lint import keys, nodes, runs
from sweeper.n8n.lint.example import COMPLETE, MARK, SEND, TRIGGER, by_sql, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_GOOD = by_sql(
    "Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id } }"
)
_BAD = by_sql(
    "Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $execution.id } }"
)

RULE = Rule(
    code="LW101",
    name="run-identity-key",
    level="error",
    what="A key is built from the run instead of the event: $execution.id, $now, Date.now(), a"
    " uuid, Math.random(), also inside Code nodes and through the nodes before.",
    why="A redelivery or a retry is another run, so it gets another key and the effect"
    " happens again.",
    fix="Take the key from the event itself: its id, or a hash of the fields that name it."
    " For a schedule, take the period from the trigger's own time, before anything can be"
    " repeated.",
    bad=flow(TRIGGER, _BAD, MARK, SEND, COMPLETE),
    good=flow(TRIGGER, _GOOD, MARK, SEND, COMPLETE),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find keys whose value, or what it is made of upstream, depends on the run."""
    for key in keys.keys(flow):
        source = keys.made_per_run(flow, key)
        if source:
            yield Hit(key.node, f"the key {key.name} is made of {source}, which each run has anew")
    for node in flow.workflow.nodes:
        for name, source in runs.run_values(nodes.program(node)):
            if keys.named_like_a_key(name):
                yield Hit(node, f"the key {name} is made of {source}, which each run has anew")
