"""LW505: a lost write is tried again with what was read before."""

from collections.abc import Iterator

from sweeper.n8n.lint import graph
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_READ = by_sql(
    "Read",
    "read_record",
    "{ workflow: 'form', target: 'customers', record_key: $json.customer }",
    only="",
)
_WRITE = by_sql(
    "Write",
    "write_fields",
    "{ workflow: 'form', target: 'customers', record_key: $json.record_key,"
    " expected_revision: $('Read').item.json.revision,"
    " changes: { phone: $('Event').item.json.phone },"
    " event: { id: $('Event').item.json.id } }",
    only="",
)
_WON = when("Won?", "={{ $json.outcome }}", "won")

RULE = Rule(
    code="LW505",
    name="stale-retry",
    level="error",
    what="A loop leads from write_fields back to write_fields and does not pass read_record.",
    why="The revision is the one that has just lost, so it loses again; and a value that was"
    " worked out from the old record would be put on the new one.",
    fix="Lead the loop back to read_record, work the change out anew, and stop when"
    " attempts_left is 0.",
    bad=flow(TRIGGER, _READ, _WRITE, _WON, wires="Event > Read > Write > Won?; Won?:1 > Write"),
    good=flow(TRIGGER, _READ, _WRITE, _WON, wires="Event > Read > Write > Won?; Won?:1 > Read"),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find writes that come back to themselves without a fresh read."""
    reads = flow.calling("read_record")
    for node in flow.calling("write_fields"):
        if node in graph.after(flow.workflow, node, past=reads):
            yield Hit(node, "its retry does not begin with a fresh read_record")
