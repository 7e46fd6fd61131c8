"""LW209: a wait in memory while a claim is held."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, nodes
from sweeper.n8n.lint.example import CLAIM, COMPLETE, GUARDED, MARK, SEND, TRIGGER, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW209",
    name="short-wait",
    level="error",
    what="A Wait of less than 65 seconds stands between a claim and the end of its job.",
    why="n8n keeps a short wait in memory only: a restart loses the run while the claim is"
    " held, and a marked send then waits for a person.",
    fix="Release the job and let it come back (run_after), or wait before the claim. 65"
    " seconds and more are kept by n8n across a restart, and need a lease that is longer.",
    bad=flow(TRIGGER, CLAIM, MARK, SEND, step("wait", "Wait", amount=20, unit="seconds"), COMPLETE),
    good=flow(TRIGGER, step("wait", "Wait", amount=20, unit="seconds"), *GUARDED[1:]),
)

# From here on n8n writes a waiting run to its database.
KEPT_FROM = 65


def check(flow: Flow) -> Iterator[Hit]:
    """Find short waits behind a claim from which the end of the job is reached."""
    ends = set(flow.calling(*doors.ENDS, "release_job"))
    claims = set(flow.claims)
    for node in flow.workflow.of("wait"):
        seconds = nodes.wait_seconds(node)
        if seconds is None or seconds >= KEPT_FROM:
            continue
        held = graph.before(flow.workflow, node, past=ends | claims) & claims
        if held and graph.after(flow.workflow, node, past=claims) & (ends | set(flow.sends)):
            yield Hit(node, f"{seconds:g} s are kept in memory only, while a claim is held")
