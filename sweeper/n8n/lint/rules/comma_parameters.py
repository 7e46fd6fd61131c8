"""LW401: query parameters as a text that n8n splits at commas."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors
from sweeper.n8n.lint.example import TRIGGER, flow, query, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_TEXT = "INSERT INTO notes (event, body) VALUES ($1, $2)"
_COMMAS = {"queryReplacement": "={{ $json.id }}, {{ $json.body }}"}

RULE = Rule(
    code="LW401",
    name="comma-parameters",
    level="error",
    what="Query Parameters are written as a text with expressions in it, not as one array.",
    why="A value with a comma is cut in two, and a missing one moves all others to the left:"
    " the second value becomes the key.",
    fix="One array in one expression: ={{ [ $json.id, $json.body ] }}. For the ledger: ={{ ["
    " JSON.stringify({ … }) ] }}.",
    bad=flow(
        TRIGGER, step("postgres", "Note", operation="executeQuery", query=_TEXT, options=_COMMAS)
    ),
    good=flow(TRIGGER, query("Note", _TEXT, "$json.id", "$json.body")),
)

# Up to version 2.4 the text is split before its expressions are filled in, so it holds.
_SPLIT_LATE = 2.5


def check(flow: Flow) -> Iterator[Hit]:
    """Find parameters that are no array and hold an expression."""
    for node in flow.workflow.of("postgres"):
        text = node.get("options.queryReplacement")
        if not isinstance(text, str) or "{{" not in text:
            continue
        if node.version < _SPLIT_LATE and node not in flow.calls:
            continue
        if doors.parameters(node) is None:
            yield Hit(
                node, "its parameters are split at the commas of their values; give one array"
            )
