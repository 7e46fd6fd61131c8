"""What a won decision came to, in plain English: only what Landed did, never what it cannot know.

Pure. What a provider did with a send nobody answered for is not known here, so no sentence says it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from review.language import _, inside, later
from review.outcomes import GOOD, Words, words

_QUEUE = later("Nothing more to do here; go on with the queue.")
_UNDO = later("It can be taken back until then; after that, a worker sends it.")

# By decision, or by kind and decision where the kind says more.
WON: Mapping[str, str] = {
    "apply": later("The attempted values were written."),
    "merge": later("Your choice was written."),
    "keep": later("Landed wrote nothing; what stands, stays."),
    "accept_new": later("The new content stands now."),
    "landed": later("The job is closed as done. Landed sends nothing more for it."),
    "not_landed": later(
        "The job is closed as not sent, on your word. Landed sends nothing more for it."
    ),
    "resend": later("It is given back to be done again, under the same key."),
    "resend_changed": later("The changed content is queued to be sent, under the same key."),
    "resend_as_new": later(
        "The old job ended; the changed content is queued as a new job, under the key "
        "of its own event."
    ),
    "abandon": later("It is given up. Landed writes and sends nothing more for it."),
    "approve": later("The proposal was carried out."),
    "acknowledge": later("It is noted that you saw it. Nothing else was changed."),
    "run_now": later("It is due from now on; a free worker takes it."),
    "mark_failed": later("The import is marked failed. Its next start goes on at its cursor."),
    "retry": later("The message is offered to its receiver again."),
    "drop": later("The message is dropped. Landed does not offer it again."),
    "clear_flag": later("The run leaves the queue for 24 hours. Landed stopped nothing."),
    "attach_execution": later("The run is this execution now; the engine is asked about it anew."),
    "declare_ended": later("The run is closed on your word. Landed stopped nothing."),
}
_OF_KINDS: Mapping[tuple[str, str], Words] = {
    ("unknown_send", "resend"): Words(
        GOOD,
        later("Queued to be sent again"),
        later("It waits for the end of its undo time, and goes out then under the same key."),
        _UNDO,
    ),
    ("unknown_send", "abandon"): Words(
        GOOD,
        later("Done"),
        later(
            "The job is given up; whether it landed stays unknown. Landed sends nothing more for "
            "it."
        ),
        _QUEUE,
    ),
    ("payload_mismatch", "accept_new"): Words(
        GOOD,
        later("Done"),
        later("The new content stands under the same key, as its next version."),
        _QUEUE,
    ),
}


@dataclass(frozen=True, slots=True)
class Entered:
    """What the ledger answered to an item that was entered by a decision."""

    words: Words
    job_id: str = ""
    conflict_id: int | None = None


def said_of(kind: str, decision: str) -> Words:
    """Say what a won decision on an item of a kind did."""
    text = WON.get(decision) or _("Your decision is recorded and took effect.")
    return _OF_KINDS.get((kind, decision)) or Words(GOOD, _("Done"), text, _QUEUE)


def entered_of(detail: Mapping[str, Any]) -> Entered | None:
    """Say what came of an entry; one the ledger refused is not shown as done."""
    answer = detail.get("entered")
    if not isinstance(answer, str):
        return None
    inner = detail.get("entered_detail")
    inner = inner if isinstance(inner, dict) else {}
    conflict = detail.get("conflict_id") or inner.get("conflict_id")
    job = detail.get("job_id") or inner.get("job_id")
    return Entered(
        _entry_words(answer, bool(conflict)),
        job if isinstance(job, str) else "",
        conflict if isinstance(conflict, int) else None,
    )


def _entry_words(answer: str, opened: bool) -> Words:
    if answer == "inserted":
        text = _("It was entered under the key of its event, and its job is queued for a worker.")
        return Words(GOOD, _("Entered"), text, _("A worker takes it; nothing more to do here."))
    if answer == "won":
        text = _("It was entered under the key of its event, and the record was written.")
        return Words(GOOD, _("Entered"), text, _QUEUE)
    said = words(answer)
    if said.tone == GOOD:
        known = _("Its key was known already.")
        return Words(GOOD, said.title, f"{known} {said.sentence}", said.next)
    closed = _("The parked item is closed, but it was not applied.")
    following = _("A new item is open for it; decide that one.") if opened else said.next
    title = _("Entered, but: {what}").format(what=inside(said.title))
    return Words(said.tone, title, f"{closed} {said.sentence}", following)
