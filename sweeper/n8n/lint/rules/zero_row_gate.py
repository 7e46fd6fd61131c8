"""LW202: a write whose missing row is taken for a gate."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, graph, nodes, sql, statements
from sweeper.n8n.lint.example import SEND, TRIGGER, flow, query, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_INSERT = (
    "INSERT INTO idem (idem_key, status, claimed_at) VALUES ($1, 'pending', now())"
    " ON CONFLICT (idem_key) DO NOTHING RETURNING idem_key"
)
_GATE = query("Gate", _INSERT, "'stripe:' + $json.id")

RULE = Rule(
    code="LW202",
    name="zero-row-gate",
    level="error",
    what="An INSERT … ON CONFLICT, a guarded UPDATE … RETURNING or an upsert is followed by an"
    " effect, and no branch reads what it returned.",
    why="The Postgres node gives one item {success: true} where no row came back, so the"
    " loser goes on: of eight deliveries at once, eight send. An upsert answers winner and"
    " loser alike.",
    fix="Call claim_job and branch on its outcome; with your own SQL, put an If on a returned"
    " column behind it.",
    also=frozenset({"LW301"}),
    bad=flow(
        TRIGGER,
        _GATE,
        SEND,
        query(
            "Done",
            "UPDATE idem SET status = 'done', done_at = now()"
            " WHERE idem_key = $1 AND status = 'pending'",
            "'stripe:' + $('Event').item.json.id",
        ),
    ),
    good=flow(
        TRIGGER,
        _GATE,
        when("Won?", "={{ $json.idem_key }}", "", "exists"),
        SEND,
        query(
            "Done",
            "UPDATE idem SET status = 'done', done_at = now() WHERE idem_key = $1"
            " AND status = 'pending'",
            "'stripe:' + $('Event').item.json.id",
        ),
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find claim-like writes from which a send is reached with no branch on their answer."""
    for node in flow.workflow.nodes:
        words = _claim_like(node)
        if not words:
            continue
        reading = [each for each in flow.workflow.of(*nodes.BRANCHES) if _reads(flow, each, node)]
        behind = graph.after(flow.workflow, node, past=reading)
        send = next((each for each in flow.sends if each in behind), None)
        if send is not None:
            yield Hit(
                node, f"{words}, and {send.name} runs all the same: no branch reads what came back"
            )


def _claim_like(node: Node) -> str:
    """Say what a write does when it loses, '' where it is no claim."""
    if node.kind in ("postgres", "mySql") and node.operation == "insert":
        return "a duplicate is skipped without a word" if node.get("options.skipOnConflict") else ""
    if node.kind not in nodes.SQL or node.operation != "executeQuery" or node.kind.endswith("Tool"):
        return ""
    read = sql.read(node.text("query"), fields.dialect(node))
    if read.calls:
        return ""
    for each in read.statements:
        if each.verb == "insert" and each.conflict == "nothing":
            return "a duplicate inserts no row"
        if each.verb == "insert" and each.conflict == "update" and each.returning:
            return "an upsert answers a duplicate like the first"
        if each.verb == "update" and each.returning and _guarded(each):
            return "an update that lost changes no row"
    return ""


def _guarded(statement: statements.Statement) -> bool:
    """Whether an UPDATE asks for a state or a version beside the row it means."""
    guards = {name for name in statement.guards if name not in ("id", "uuid")}
    return statements.is_versioned(statement) or bool(
        guards & {"state", "status", "locked", "locked_at", "claimed_at", "processed", "sent"}
    )


def _reads(flow: Flow, branch: Node, node: Node) -> bool:
    """Whether a branch reads from the item behind the write, or the write by its name."""
    return any(
        "$json" in text or f"'{node.name}'" in text or f'"{node.name}"' in text
        for _, text in branch.texts
    )
