"""Every outcome an operation can answer, in plain English, with the next step. One table.

Pure. A page never says done on anything but `won`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from review.language import later

# Tones of the stylesheet: good, lost (somebody was faster, nothing broke), refused (fix and retry).
GOOD, LOST, REFUSED = "ok", "warn", "bad"


@dataclass(frozen=True, slots=True)
class Words:
    """What an outcome means to the person who asked, and what to do now."""

    tone: str
    title: str
    sentence: str
    next: str


_QUEUE = later("Nothing more to do here; go on with the queue.")
_REFRESH = later("Open the item again and decide on what it shows now.")

OUTCOMES: Mapping[str, Words] = {
    "won": Words(GOOD, later("Done"), later("Your decision is recorded and took effect."), _QUEUE),
    "inserted": Words(GOOD, later("Recorded"), later("A new row was written."), _QUEUE),
    "matched": Words(
        GOOD,
        later("Already there"),
        later("The same item was there already; no second one was made."),
        _QUEUE,
    ),
    "replay": Words(
        GOOD,
        later("Already done"),
        later("This was done before; the stored answer stands."),
        _QUEUE,
    ),
    "empty": Words(GOOD, later("Nothing to do"), later("There was nothing to act on."), _QUEUE),
    "held_by_other": Words(
        LOST,
        later("Somebody else holds it"),
        later("A worker or the sweeper holds this job at the moment. Nothing was changed."),
        later("Wait until its lease ends, then open the item again."),
    ),
    "in_review": Words(
        LOST,
        later("It waits for a decision"),
        later("The key has an open item. Nothing was changed."),
        later("Decide the open item first."),
    ),
    "dead_lettered": Words(
        LOST,
        later("It is a dead letter"),
        later("The job gave up after its last attempt. Nothing was changed."),
        later("Look at the dead letter and retry or abandon it there."),
    ),
    "lost_claim": Words(
        LOST,
        later("The job is gone"),
        later("No job with this id exists any more. Nothing was changed."),
        later("Derive the work again from the source event."),
    ),
    "lost_record": Words(
        LOST,
        later("The record is gone"),
        later("The row this change was for no longer exists. Nothing was written."),
        later("Resend if the workflow should create it again, or abandon."),
    ),
    "stale_version": Words(
        LOST,
        later("Moved again"),
        later("The record changed after this page was drawn. Nothing was written."),
        later("Compare with the new version and decide again."),
    ),
    "rule_failed": Words(
        REFUSED,
        later("Not allowed as it stands"),
        later("A rule of the ledger refused this decision. Nothing was changed."),
        later("Supply what is missing, or choose another way out."),
    ),
    "not_owner_of_field": Words(
        REFUSED,
        later("That field belongs to another workflow"),
        later("The change touches a field this workflow may not write. Nothing was written."),
        later("Leave the field at its current value, or have the field's owner write it."),
    ),
    "bad_transition": Words(
        REFUSED,
        later("Not an allowed move"),
        later(
            "This decision, or the status it would set, is not allowed from here. Nothing was "
            "changed."
        ),
        later("Choose one of the other decisions."),
    ),
    "payload_mismatch": Words(
        LOST,
        later("Same key, other content"),
        later("The key was used before with different content. Nothing was applied."),
        later("Compare both and keep the stored one or accept the new one."),
    ),
    "result_mismatch": Words(
        LOST,
        later("Two different results"),
        later("A result is stored already and it is not this one. The stored one stands."),
        later("Compare both and keep the stored one or accept the new one."),
    ),
    "already_applied": Words(
        LOST,
        later("Already applied"),
        later("This effect adds something and was applied before; it is never applied twice."),
        later("Abandon the item, or enter the difference as its own event."),
    ),
    "superseded": Words(
        LOST,
        later("A newer version was applied"),
        later("A newer version of this effect stands already."),
        _QUEUE,
    ),
    "already_marked": Words(
        LOST,
        later("The send was marked before"),
        later(
            "Somebody marked this send already, so it may be under way. Landed sent nothing now."
        ),
        later("Wait for the sweeper's look-up."),
    ),
    "already_done": Words(
        LOST, later("The job is done"), later("The job ended before you decided."), _QUEUE
    ),
    "already_decided": Words(
        LOST,
        later("Already decided"),
        later("Somebody decided this item before you. Your decision was not carried out."),
        later("Read what was decided; nothing more is needed unless it was wrong."),
    ),
    "already_terminal": Words(
        LOST, later("It has ended"), later("The run ended before you decided."), _QUEUE
    ),
    "lease_expired": Words(
        LOST,
        later("The hold ran out"),
        later("The time-limited hold on the job ended. Nothing was changed."),
        _REFRESH,
    ),
    "key_mismatch": Words(
        REFUSED,
        later("That is another key"),
        later("The key given is not the key of this job. Nothing was changed."),
        later("Check the key and try again."),
    ),
    "missing_key": Words(
        REFUSED,
        later("No key can be made from this"),
        later("The event lacks the fields the key is made of. Nothing was entered."),
        later("Type the event with its id."),
    ),
    "key_is_run_identity": Words(
        REFUSED,
        later("That key changes with every run"),
        later("The event's id is the id of an n8n execution; a retry would look like a new event."),
        later("Use an id the source gives the event."),
    ),
    "unknown_effect": Words(
        REFUSED,
        later("Unknown effect"),
        later("No effect of this name is registered."),
        later("Register it, then try again."),
    ),
    "unknown_target": Words(
        REFUSED,
        later("Unknown target"),
        later("No target of this name is registered."),
        later("Register it, then try again."),
    ),
    "wrong_role": Words(
        REFUSED,
        later("Not you"),
        later("This needs somebody else: the person who proposed a decision cannot approve it."),
        later("Ask somebody with the role approver; roles are given under People."),
    ),
    "invalid": Words(
        REFUSED,
        later("Not understood"),
        later("Something in the form could not be read. Nothing was changed."),
        later("Correct it and try again."),
    ),
    "needs_second_person": Words(
        LOST,
        later("A second person must confirm"),
        later("Your proposal is stored; nothing was written or sent yet."),
        later(
            "Somebody with the role approver confirms it on this page; till then it stays in the "
            "queue. Roles are given under People."
        ),
    ),
}

UNKNOWN = Words(
    REFUSED,
    later("An answer this page does not know"),
    later(
        "The ledger answered with a word this console has no sentence for; nothing is assumed done."
    ),
    _REFRESH,
)

# What an outcome means for a source where the general sentence would say too little.
_OF_SOURCES: Mapping[tuple[str, str], Words] = {
    ("failed_job", "in_review"): Words(
        LOST,
        later("It waits for a decision elsewhere"),
        later(
            "The job may have been sent before, so it was not sent again. The dead letter is "
            "closed, "
            "and the uncertain send is an item of its own."
        ),
        later("Decide the uncertain send."),
    ),
    ("failed_job", "already_decided"): Words(
        LOST,
        later("Already decided"),
        later(
            "This dead letter was decided before you, or its work had ended. Nothing was sent for "
            "you."
        ),
        later("Read how it ended; nothing more is needed unless that was wrong."),
    ),
    ("job", "already_decided"): Words(
        LOST,
        later("The job moved on"),
        later("A worker or a person moved this job before you. Your decision was not carried out."),
        _QUEUE,
    ),
    ("job", "bad_transition"): Words(
        LOST,
        later("It does not wait in the queue any more"),
        later(
            "A worker took this job, or it waits elsewhere by now. Your decision was not carried "
            "out."
        ),
        _QUEUE,
    ),
    ("batch", "already_decided"): Words(
        LOST,
        later("The import moved on"),
        later("It went on, ended or was decided before you. Your decision was not carried out."),
        _QUEUE,
    ),
    ("run", "already_decided"): Words(
        LOST,
        later("The run moved on"),
        later(
            "Somebody decided or the engine answered before you. Your decision was not carried out."
        ),
        _REFRESH,
    ),
}


# The form was sent once more, by a reload or a second press: nothing was lost by it.
YOURS = Words(
    GOOD,
    later("You have decided this"),
    later("Your first decision stands; it was not carried out a second time."),
    _QUEUE,
)


def words(outcome: str, source: str = "conflict") -> Words:
    """Return the sentence for an outcome; one the table lacks is never shown as success."""
    return _OF_SOURCES.get((source, outcome)) or OUTCOMES.get(outcome, UNKNOWN)
