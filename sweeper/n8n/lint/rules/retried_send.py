"""LW302: Retry On Fail on a send whose receiver does not know a repeat."""

from collections.abc import Iterator

from sweeper.n8n.lint import nodes
from sweeper.n8n.lint.example import CLAIM, COMPLETE, MARK, TRIGGER, flow, post
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW302",
    name="retried-send",
    level="error",
    what="A send has “Retry On Fail” and carries no idempotency key, or gets several items at"
    " once.",
    why="A timeout is retried though the first request may have arrived, and n8n repeats the"
    " whole node: all items, those that went through as well.",
    fix="Switch it off and let fail_job or the sweep decide. Only a service that enforces the"
    " key may be asked again, with provider_key in its header and one item at a time.",
    bad=flow(TRIGGER, CLAIM, MARK, post("Send", retryOnFail=True), COMPLETE),
    good=flow(
        TRIGGER,
        CLAIM,
        MARK,
        post("Send", key="={{ $json.provider_key }}", retryOnFail=True),
        COMPLETE,
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find retried sends without a key, and keyed ones that several items reach."""
    for node in flow.sends:
        if not node.retries:
            continue
        if not nodes.keyed(node):
            yield Hit(
                node, "n8n repeats it after a timeout, and the receiver cannot know the repeat"
            )
        else:
            source = flow.several(node)
            if source:
                yield Hit(node, f"n8n repeats all items of {source.name} when one of them fails")
