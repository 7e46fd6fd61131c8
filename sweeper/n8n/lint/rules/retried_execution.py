"""LW307: n8n's own retry of an execution as recovery."""

import re
from collections.abc import Iterator

from sweeper.n8n.lint.example import flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_CLOCK = step("scheduleTrigger", "Clock", rule={"interval": [{"field": "minutes"}]})
_BAD = step(
    "httpRequest",
    "Again",
    method="POST",
    url="=https://n8n.example/api/v1/executions/{{ $json.id }}/retry",
)
_GOOD = step(
    "httpRequest", "Look", method="GET", url="=https://n8n.example/api/v1/executions/{{ $json.id }}"
)

RULE = Rule(
    code="LW307",
    name="retried-execution",
    level="error",
    what="A node asks n8n to retry an execution.",
    why="The retry starts at the failed node with the items saved then, even while the first"
    " run still goes on: a second copy sends what the first has sent.",
    fix="Recover the job, not the execution: fail_job and the ledger's schedules offer it"
    " again under its key.",
    also=frozenset({"LW301"}),
    bad=flow(_CLOCK, _BAD),
    good=flow(_CLOCK, _GOOD),
)

_RETRY = re.compile(r"/executions/.{1,80}?/retry\b")


def check(flow: Flow) -> Iterator[Hit]:
    """Find requests, programs and n8n nodes that retry an execution."""
    for node in flow.workflow.nodes:
        if node.kind in ("disabled", "stickyNote"):
            continue
        own = node.kind == "n8n" and node.resource == "execution" and node.operation == "retry"
        if own or any(_RETRY.search(text) for _, text in node.texts if "retry" in text):
            yield Hit(node, "it lets n8n run an execution again, from stale items")
