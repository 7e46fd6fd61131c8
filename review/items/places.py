"""The words that fill the sentences beside the buttons, and what forbids single decisions."""

from datetime import datetime

from ledger.models import Conflict
from review.items import sends
from review.items.around import Around, unreadable
from review.items.offers import Places, lacking_words
from review.items.page import Proposal
from review.items.parts import FieldPart
from review.items.stories import record_of, version
from review.policy import policies
from review.rights import VIEW_PAYLOAD
from review.text import actor, listed, shown
from review.verbs import AS_SHOWN, OWN_PROPOSAL


def places(
    conflict: Conflict,
    around: Around,
    part: FieldPart | None,
    proposal: Proposal | None,
    now: datetime,
    *,
    blind: bool = False,
    own: bool = False,
) -> Places:
    """Return the words for this item as it is now; blind is who may not see its values.

    own is who proposed what waits: somebody else confirms it.
    """
    workflow, record = actor(conflict.workflow, 60), record_of(conflict)
    at = part.version_now if part else version(conflict.version_found)
    told = f" {workflow} is told so." if conflict.external else ""
    words = {
        "record": record,
        "workflow": workflow,
        "provider": shown(around.job.provider, 60) if around.job else "the provider",
        "proposer": proposal.by if proposal else "",
        "accept": "The written record changes." if conflict.target else "A new job is queued.",
        "merge": (
            f"Writes nothing here: {workflow} is told the row above and writes it to {record}."
            if conflict.external
            else f"Writes {_written(part)} on {record} if it is still at {at}."
            " Cannot be undone here."
        ),
        "keep": f"Writes nothing. {record} stays at {at}; the event is closed.{told}",
        "second": _second_person(conflict, part),
        "resend": "Queues the send again.",
    }
    if around.job:
        undo = policies()["undo_s"]
        seconds = undo if isinstance(undo, int) else 30
        words["resend"] = sends.resend_words(around.job, around.provider, now, seconds)
    forbidden = _forbidden(around, part, words["provider"]) | _parked(conflict, around)
    if own:
        forbidden["approve"] = OWN_PROPOSAL
    if blind:
        forbidden[AS_SHOWN] = lacking_words(VIEW_PAYLOAD)
    return Places(words, forbidden)


def _written(part: FieldPart | None) -> str:
    """Name what would be written, as it is chosen now."""
    changes = part.written.changes if part and part.written else {}
    return listed([shown(name, 40) for name in changes], most=3) or "the row above"


def _forbidden(around: Around, part: FieldPart | None, provider: str) -> dict[str, str]:
    forbidden = {}
    if part and part.written and not part.written.changes:
        forbidden[AS_SHOWN] = "Nothing would be written. Choose a value, or keep current."
    if part and part.written and part.written.problems:
        forbidden[AS_SHOWN] = "A typed value cannot be read; see the row above."
    if around.job and not sends.can_be_asked(around.provider):
        forbidden["look_again"] = f"{provider} cannot be asked. Check there by hand."
    return forbidden


def _parked(conflict: Conflict, around: Around) -> dict[str, str]:
    """Say what cannot be entered or written from what came."""
    found = {}
    if unreadable(conflict) is not None:
        text = "What came could not be read, so there is nothing in it to write."
        found = {AS_SHOWN: text, "accept_new": text}
    if conflict.kind == "missing_key" and conflict.external:
        found["resend"] = (
            "This item came from outside: enter it in its workflow, then abandon it here."
        )
    elif conflict.kind == "missing_key" and around.job is not None:
        found["resend"] = "Its job exists under its key; abandon this item."
    return found


def _second_person(conflict: Conflict, part: FieldPart | None) -> str:
    """Say that a second person will have to confirm, where the ledger will ask for one."""
    if part is None or part.written is None:
        return ""
    names = [
        shown(each.row.name, 40)
        for each in part.rows
        if each.sensitive and each.row.name in part.written.changes
    ]
    if names:
        verb = "is" if len(names) == 1 else "are"
        return f" A second person confirms, because {listed(names)} {verb} sensitive."
    if conflict.external and conflict.sensitive:
        return " A second person confirms, because it was posted as sensitive."
    return ""
