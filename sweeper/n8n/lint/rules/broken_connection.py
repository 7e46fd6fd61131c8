"""LW902: a workflow whose nodes and connections do not fit each other."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import GUARDED, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW902",
    name="broken-connection",
    level="warning",
    what="Connections name nodes that are not there, two nodes have one name, or a node has no"
    " type.",
    why="n8n drops what does not fit, so the path that was drawn is not the path that runs;"
    " what other rules say about such a workflow may be wrong.",
    fix="Import it into n8n, repair it there, and export it again.",
    bad=flow(*GUARDED, wires="Event > Claim > Mark > Send > Complete > Gone"),
    good=flow(*GUARDED),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Tell what the reader could not place."""
    for name, words in flow.workflow.problems:
        yield Hit(flow.workflow.named(name) if name else None, words)
