"""LW402: values put into the text of a query."""

from collections.abc import Iterator

from sweeper.n8n.lint import js, nodes
from sweeper.n8n.lint.example import TRIGGER, flow, query, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_BAD = step(
    "postgres",
    "Find",
    operation="executeQuery",
    query="SELECT * FROM people WHERE mail = '{{ $json.mail }}'",
)

RULE = Rule(
    code="LW402",
    name="interpolated-sql",
    level="error",
    what="An expression {{ … }} stands inside a query.",
    why="n8n puts its value into the text, with or without a leading =: a quote in it ends"
    " the string, and the rest is run.",
    fix="Write $1, $2 in the query and give the values as Query Parameters, in the array form.",
    bad=flow(TRIGGER, _BAD),
    good=flow(TRIGGER, query("Find", "SELECT * FROM people WHERE mail = $1", "$json.mail")),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find queries with an expression that reads anything."""
    for node in flow.workflow.of(*nodes.SQL):
        for code in js.expressions(node.text("query")):
            if code.strip().strip("'\"").replace(".", "").isalnum() and "$" not in code:
                continue
            short = " ".join(code.split())[:60]
            yield Hit(node, f"{{{{ {short} }}}} is put into the text of the query")
            break
