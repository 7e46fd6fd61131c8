"""Labelled workflows: what is wrong with a workflow or a file as a whole."""

from sweeper.n8n.lint.example import (
    GUARDED,
    SEND,
    TRIGGER,
    flow,
    step,
)
from tests.support.lint.parts import (
    Label,
    label,
)

LABELS: list[Label] = [
    label("an error workflow that is not published", "LW601", flow=[
        flow(*GUARDED), flow(step("errorTrigger", "Error"), settings={}, id="errors", active=False)]),
    label("an error workflow without its trigger", "LW601", flow=[
        flow(*GUARDED), flow(step("manualTrigger", "Start"), settings={}, id="errors", active=True)]),
    label("a workflow only people start", flow=flow(step("manualTrigger", "Start"), step("noOp", "Rest"), settings={})),
    label("two nodes of one name", "LW902", flow=flow(*GUARDED, {**SEND, "disabled": True}, wires="Event > Claim > Mark > Send > Complete")),
    label("no workflow at all", "LW901", flow={"hello": "world"}),
    label("an empty array", "LW901", flow=[]),
    label("wrapped as a gallery does", flow={"workflow": {"nodes": [{"name": "icon"}], "workflow": flow(*GUARDED)}}),
    label("a finding allowed with its reason is still told", "LW301", flow=flow(
        TRIGGER, step("slack", "Tell", text="hi", notes="landed-allow LW301: the channel may hear it twice"))),
]  # fmt: skip
