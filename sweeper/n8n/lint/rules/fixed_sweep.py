"""LW210: a sweep with a fixed age beside leases that are longer."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, fields, nodes, sql, values
from sweeper.n8n.lint.example import flow, query, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import Known

_FIXED = "SELECT * FROM jobs WHERE state = 'claimed' AND claimed_at < now() - interval '10 minutes'"
_BY_LEASE = (
    "SELECT * FROM jobs WHERE state = 'claimed'"
    " AND claimed_at < now() - (lease_seconds || ' seconds')::interval"
)
_CLOCK = step("scheduleTrigger", "Clock", rule={"interval": [{"field": "minutes"}]})

RULE = Rule(
    code="LW210",
    name="fixed-sweep",
    level="error",
    what="A query takes jobs for abandoned after a fixed time, and some lease is longer than that.",
    why="It lists jobs that are still worked on, and whoever acts on the list sends them twice.",
    fix="Compare with the lease: claimed_at < now() - (lease_seconds || '"
    " seconds')::interval. Better, leave recovery to the ledger's own sweep.",
    bad=flow(_CLOCK, query("Stuck", _FIXED)),
    good=flow(_CLOCK, query("Stuck", _BY_LEASE)),
    known=Known(longest_lease=3600),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find fixed sweeps shorter than the longest lease that is known or asked for."""
    longest = max(flow.known.longest_lease, *_leases(flow), 0)
    for node in flow.workflow.of(*nodes.SQL):
        query = sql.read(node.text("query"), fields.dialect(node))
        for each in query.statements:
            if 0 < each.minutes * 60 < longest:
                yield Hit(node, f"{each.minutes} minutes are shorter than a lease of {longest} s")


def _leases(flow: Flow) -> list[int]:
    """Return the leases that claims ask for, in this workflow and in those read with it."""
    found = [0]
    for workflow in (flow.workflow, *flow.known.siblings):
        for node in workflow.nodes:
            call = doors.call(node)
            asked = values.member(doors.argument(node), "lease_seconds") if call else None
            if isinstance(asked, values.Literal) and isinstance(asked.value, int):
                found.append(asked.value)
    return found
