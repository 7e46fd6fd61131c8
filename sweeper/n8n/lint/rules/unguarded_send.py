"""LW301: a send that can be reached without a won claim and a won mark."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import CLAIM, COMPLETE, GUARDED, SEND, TRIGGER, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

RULE = Rule(
    code="LW301",
    name="unguarded-send",
    level="error",
    what="Some way through the workflow reaches a send (a message, a charge, a new row in"
    " somebody's service) without passing a won claim and then a won mark_sending; or two"
    " sends follow one mark.",
    why="On that way a redelivery sends again, and after a crash nobody can tell whether it"
    " was sent.",
    fix="Put claim_job and mark_sending before it, each letting only won through, and one"
    " mark before each send. A message that may arrive twice says so in the node's notes"
    " (see Suppressing).",
    bad=flow(TRIGGER, CLAIM, SEND, COMPLETE),
    good=flow(*GUARDED),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find sends with a way around the guard."""
    for node in flow.open_sends:
        yield Hit(node, _reason(flow))
    for node, first in flow.second_sends.items():
        if node in flow.open_sends:
            continue
        if node is first:
            yield Hit(node, "a loop comes back to it without a new mark_sending")
        else:
            yield Hit(
                node, f"{first.name} was sent on the same mark_sending; each send needs its own"
            )


def _reason(flow: Flow) -> str:
    if not flow.claims and all(root.kind == "manualTrigger" for root in flow.roots):
        return "nothing claims anything before it: each run sends again"
    if not flow.claims:
        return "nothing claims the event before it: a redelivery sends again"
    if not flow.marks and not flow.raw_claims:
        return "no mark_sending before it: after a crash nobody can tell whether it was sent"
    if flow.unclaimed_marks:
        return f"{flow.unclaimed_marks[0].name} can be reached without a won claim, so this can too"
    return "a way leads around the won claim and mark: a lost item can reach it"
