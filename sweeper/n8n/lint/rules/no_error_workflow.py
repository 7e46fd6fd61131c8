"""LW601: failures that nobody hears of."""

from collections.abc import Iterator

from sweeper.n8n.lint import nodes
from sweeper.n8n.lint.example import GUARDED, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Workflow

RULE = Rule(
    code="LW601",
    name="no-error-workflow",
    level="warning",
    what="A workflow that runs by itself names no error workflow, or one that is not published"
    " or has no Error Trigger (seen when both are read together).",
    why="A failed run is a red line in n8n's list and nowhere else; since version 2, an error"
    " workflow that is not published is not started.",
    fix="Set Settings → Error Workflow to one that calls post_failed_job, and publish that one.",
    bad=flow(*GUARDED, settings={}),
    good=flow(*GUARDED),
)

# What is started by a person, or by a workflow that has an error workflow of its own.
_ATTENDED = frozenset({
    "manualTrigger", "executeWorkflowTrigger", "errorTrigger", "start", "formTrigger",
    "chatTrigger", "manualChatTrigger", "evaluationTrigger",
})  # fmt: skip


def check(flow: Flow) -> Iterator[Hit]:
    """Find unattended workflows with effects whose errors lead nowhere."""
    alone = [root for root in flow.roots if nodes.starts(root) and root.kind not in _ATTENDED]
    if not alone or not (flow.sends or flow.calls):
        return
    named = flow.workflow.settings.get("errorWorkflow")
    if not isinstance(named, str) or not named:
        yield Hit(
            None, "it has no error workflow: a failed run is seen by whoever looks at n8n's list"
        )
        return
    other = next((each for each in flow.known.siblings if named in (each.id, each.name)), None)
    if other is not None and other.active is False:
        yield Hit(
            None, f"its error workflow {other.name} is not published, so n8n does not start it"
        )
    if other is not None and not _hears(other):
        yield Hit(None, f"its error workflow {other.name} has no Error Trigger")


def _hears(workflow: Workflow) -> bool:
    return bool(workflow.of("errorTrigger"))
