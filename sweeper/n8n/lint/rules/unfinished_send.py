"""LW305: a guarded send whose job is never ended."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, nodes, sql
from sweeper.n8n.lint.example import CLAIM, COMPLETE, MARK, SEND, TRIGGER, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

RULE = Rule(
    code="LW305",
    name="unfinished-send",
    level="error",
    what="Behind a marked send no way leads to complete_job (or record_receipt, fail_job).",
    why="The lease runs out and the sweep has to find out what happened: each send ends in a"
    " look-up, or before a person, though the workflow knew the answer.",
    fix="Call complete_job with the provider's answer behind the send, and fail_job on its"
    " error output.",
    bad=flow(TRIGGER, CLAIM, MARK, SEND),
    good=flow(TRIGGER, CLAIM, MARK, SEND, COMPLETE),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find guarded sends from which no end of a job is reached."""
    ends = set(flow.calling(*doors.ENDS)) | {n for n in flow.workflow.nodes if _raw_end(n)}
    for node in flow.sends:
        unmarked = node in flow.open_sends or node in flow.second_sends
        if not unmarked and not graph.after(flow.workflow, node) & ends:
            yield Hit(node, "nothing behind it ends the job: the sweep will have to find out")


def _raw_end(node: Node) -> bool:
    """Whether the sources' own SQL ends a job here."""
    if node.kind not in nodes.SQL or node.operation != "executeQuery":
        return False
    return any(
        each.verb in ("update", "insert") and each.table in ("idem", "jobs", "processed_items")
        for each in sql.read(node.text("query")).statements
    )
