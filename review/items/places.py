"""The words that fill the sentences beside the buttons, and what forbids single decisions."""

from datetime import datetime

from ledger.models import Conflict
from review.items import sends
from review.items.around import Around, unreadable
from review.items.offers import Places, lacking_words
from review.items.page import Proposal
from review.items.parts import FieldPart
from review.items.stories import record_of, version
from review.language import _
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
    words = {
        "record": record,
        "workflow": workflow,
        "provider": shown(around.job.provider, 60) if around.job else _("the provider"),
        "proposer": proposal.by if proposal else "",
        "accept": _("The written record changes.")
        if conflict.target
        else _("A new job is queued."),
        "merge": _merge_words(conflict, part).format(
            workflow=workflow, record=record, fields=_written(part), version=at
        ),
        "keep": _keep_words(conflict).format(workflow=workflow, record=record, version=at),
        "second": _second_person(conflict, part),
        "resend": _("Queues the send again."),
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


def _merge_words(conflict: Conflict, part: FieldPart | None) -> str:
    if conflict.external:
        return _("Writes nothing here: {workflow} is told the row above and writes it to {record}.")
    if part and part.written and part.written.changes:
        return _("Writes {fields} on {record} if it is still at {version}. Cannot be undone here.")
    return _("Writes the row above on {record} if it is still at {version}. Cannot be undone here.")


def _keep_words(conflict: Conflict) -> str:
    if conflict.external:
        return _(
            "Writes nothing. {record} stays at {version}; the event is closed. {workflow} is told "
            "so."
        )
    return _("Writes nothing. {record} stays at {version}; the event is closed.")


def _written(part: FieldPart | None) -> str:
    """Name what would be written, as it is chosen now."""
    changes = part.written.changes if part and part.written else {}
    return listed([shown(name, 40) for name in changes], most=3)


def _forbidden(around: Around, part: FieldPart | None, provider: str) -> dict[str, str]:
    forbidden = {}
    if part and part.written and not part.written.changes:
        forbidden[AS_SHOWN] = _("Nothing would be written. Choose a value, or keep current.")
    if part and part.written and part.written.problems:
        forbidden[AS_SHOWN] = _("A typed value cannot be read; see the row above.")
    if around.job and not sends.can_be_asked(around.provider):
        words = _("{provider} cannot be asked. Check there by hand.")
        forbidden["look_again"] = words.format(provider=provider)
    return forbidden


def _parked(conflict: Conflict, around: Around) -> dict[str, str]:
    """Say what cannot be entered or written from what came."""
    found = {}
    if unreadable(conflict) is not None:
        text = _("What came could not be read, so there is nothing in it to write.")
        found = {AS_SHOWN: text, "accept_new": text}
    if conflict.kind == "missing_key" and conflict.external:
        found["resend"] = _(
            "This item came from outside: enter it in its workflow, then abandon it here."
        )
    elif conflict.kind == "missing_key" and around.job is not None:
        found["resend"] = _("Its job exists under its key; abandon this item.")
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
    words = ""
    if len(names) == 1:
        words = _("A second person confirms, because {fields} is sensitive.")
    elif names:
        words = _("A second person confirms, because {fields} are sensitive.")
    elif conflict.external and conflict.sensitive:
        words = _("A second person confirms, because it was posted as sensitive.")
    return f" {words.format(fields=listed(names))}" if words else ""
