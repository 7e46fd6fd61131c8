"""LW503: a write whose fields cannot be read from the export."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, nodes
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow


def _write(changes: str) -> dict[str, object]:
    return by_sql(
        "Write",
        "write_fields",
        "{ workflow: 'form', target: 'customers', record_key: $json.customer,"
        f" expected_revision: $json.revision, changes: {changes}, event: {{ id: $json.id }} }}",
    )


_BUILT = step("code", "Build", jsCode="return items.map(one => pick(one));")

RULE = Rule(
    code="LW503",
    name="unread-write",
    level="error",
    what="A field write takes its target or its changes from something that cannot be read in"
    " the export: a Code node that builds them, an expression, a query that does not"
    " parse.",
    why="Ownership is derived from the export. What cannot be read could write any field, so"
    " it is refused.",
    fix="Write the changes as an object with named fields, in the node itself or in one Edit"
    " Fields before it.",
    bad=flow(TRIGGER, _BUILT, _write("$json.changes")),
    good=flow(TRIGGER, _BUILT, _write("{ phone: $json.phone }")),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find field writes, and other writes of registered tables, that keep their fields hidden."""
    registered = bool(flow.known.targets)
    for write in fields.writes(flow):
        if write.field is not None or write.whole:
            continue
        known = flow.known.target(write.store) if write.store else None
        unsure = registered and not write.store and write.node.kind in nodes.SQL
        if write.way == "operation" or known or unsure:
            yield Hit(write.node, write.reason)
