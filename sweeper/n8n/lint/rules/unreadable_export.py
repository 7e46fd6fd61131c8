"""LW901: a file that holds no workflow that can be read. The reader finds it, not a check."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import GUARDED, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW901",
    name="unreadable-export",
    level="error",
    what="A file is no JSON, or holds no workflow with a list of nodes.",
    why="Nothing can be said of what cannot be read, and silence would look like a clean result.",
    fix="Export the workflow again (Download, or n8n export:workflow).",
    bad={"name": "example", "nodes": "none"},
    good=flow(*GUARDED),
)


def check(_flow: Flow) -> Iterator[Hit]:
    """Find nothing: a workflow that got this far was read."""
    return iter(())
