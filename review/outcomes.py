"""Every outcome an operation can answer, in plain English, with the next step. One table.

Pure. A page never says done on anything but `won`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from review.decisions import EVENT, EXECUTION, REASON, RISK

# Tones of the stylesheet: good, lost (somebody was faster, nothing broke), refused (fix and retry).
GOOD, LOST, REFUSED = "ok", "warn", "bad"


@dataclass(frozen=True, slots=True)
class Words:
    """What an outcome means to the person who asked, and what to do now."""

    tone: str
    title: str
    sentence: str
    next: str


_QUEUE = "Nothing more to do here; go on with the queue."
_REFRESH = "Open the item again and decide on what it shows now."

OUTCOMES: Mapping[str, Words] = {
    "won": Words(GOOD, "Done", "Your decision is recorded and took effect.", _QUEUE),
    "inserted": Words(GOOD, "Recorded", "A new row was written.", _QUEUE),
    "matched": Words(
        GOOD, "Already there", "The same item was there already; no second one was made.", _QUEUE
    ),
    "replay": Words(
        GOOD, "Already done", "This was done before; the stored answer stands.", _QUEUE
    ),
    "empty": Words(GOOD, "Nothing to do", "There was nothing to act on.", _QUEUE),
    "held_by_other": Words(
        LOST,
        "Somebody else holds it",
        "A worker or the sweeper holds this job at the moment. Nothing was changed.",
        "Wait until its lease ends, then open the item again.",
    ),
    "in_review": Words(
        LOST,
        "It waits for a decision",
        "The key has an open item. Nothing was changed.",
        "Decide the open item first.",
    ),
    "dead_lettered": Words(
        LOST,
        "It is a dead letter",
        "The job gave up after its last attempt. Nothing was changed.",
        "Look at the dead letter and retry or abandon it there.",
    ),
    "lost_claim": Words(
        LOST,
        "The job is gone",
        "No job with this id exists any more. Nothing was changed.",
        "Derive the work again from the source event.",
    ),
    "lost_record": Words(
        LOST,
        "The record is gone",
        "The row this change was for no longer exists. Nothing was written.",
        "Resend if the workflow should create it again, or abandon.",
    ),
    "stale_version": Words(
        LOST,
        "Moved again",
        "The record changed after this page was drawn. Nothing was written.",
        "Compare with the new version and decide again.",
    ),
    "rule_failed": Words(
        REFUSED,
        "Not allowed as it stands",
        "A rule of the ledger refused this decision. Nothing was changed.",
        "Supply what is missing, or choose another way out.",
    ),
    "not_owner_of_field": Words(
        REFUSED,
        "That field belongs to another workflow",
        "The change touches a field this workflow may not write. Nothing was written.",
        "Leave the field at its current value, or have the field's owner write it.",
    ),
    "bad_transition": Words(
        REFUSED,
        "Not an allowed move",
        "This decision, or the status it would set, is not allowed from here. Nothing was changed.",
        "Choose one of the other decisions.",
    ),
    "payload_mismatch": Words(
        LOST,
        "Same key, other content",
        "The key was used before with different content. Nothing was applied.",
        "Compare both and keep the stored one or accept the new one.",
    ),
    "result_mismatch": Words(
        LOST,
        "Two different results",
        "A result is stored already and it is not this one. The stored one stands.",
        "Compare both and keep the stored one or accept the new one.",
    ),
    "already_applied": Words(
        LOST,
        "Already applied",
        "This effect adds something and was applied before; it is never applied twice.",
        "Abandon the item, or enter the difference as its own event.",
    ),
    "superseded": Words(
        LOST,
        "A newer version was applied",
        "A newer version of this effect stands already.",
        _QUEUE,
    ),
    "already_marked": Words(
        LOST,
        "The send was marked before",
        "Somebody marked this send already, so it may be under way. Landed sent nothing now.",
        "Wait for the sweeper's look-up.",
    ),
    "already_done": Words(LOST, "The job is done", "The job ended before you decided.", _QUEUE),
    "already_decided": Words(
        LOST,
        "Already decided",
        "Somebody decided this item before you. Your decision was not carried out.",
        "Read what was decided; nothing more is needed unless it was wrong.",
    ),
    "already_terminal": Words(LOST, "It has ended", "The run ended before you decided.", _QUEUE),
    "lease_expired": Words(
        LOST,
        "The hold ran out",
        "The time-limited hold on the job ended. Nothing was changed.",
        _REFRESH,
    ),
    "key_mismatch": Words(
        REFUSED,
        "That is another key",
        "The key given is not the key of this job. Nothing was changed.",
        "Check the key and try again.",
    ),
    "missing_key": Words(
        REFUSED,
        "No key can be made from this",
        "The event lacks the fields the key is made of. Nothing was entered.",
        "Type the event with its id.",
    ),
    "key_is_run_identity": Words(
        REFUSED,
        "That key changes with every run",
        "The event's id is the id of an n8n execution; a retry would look like a new event.",
        "Use an id the source gives the event.",
    ),
    "unknown_effect": Words(
        REFUSED,
        "Unknown effect",
        "No effect of this name is registered.",
        "Register it, then try again.",
    ),
    "unknown_target": Words(
        REFUSED,
        "Unknown target",
        "No target of this name is registered.",
        "Register it, then try again.",
    ),
    "wrong_role": Words(
        REFUSED,
        "Not you",
        "This needs somebody else: the person who proposed a decision cannot approve it.",
        "Ask somebody with the role approver; roles are given under People.",
    ),
    "invalid": Words(
        REFUSED,
        "Not understood",
        "Something in the form could not be read. Nothing was changed.",
        "Correct it and try again.",
    ),
    "needs_second_person": Words(
        LOST,
        "A second person must confirm",
        "Your proposal is stored; nothing was written or sent yet.",
        "Somebody with the role approver confirms it on this page; till then it stays in the "
        "queue. Roles are given under People.",
    ),
}

UNKNOWN = Words(
    REFUSED,
    "An answer this page does not know",
    "The ledger answered with a word this console has no sentence for; nothing is assumed done.",
    _REFRESH,
)

# What a rule_failed asks for (detail.needs), as the person who has to supply it would say it.
NEEDS: Mapping[str, str] = {
    "reason": "a reason",
    "statement": "a statement of what you know and how",
    "provider_ref or statement": "the provider's reference, or a statement",
    "risk_acknowledged": "the tick that a second send is possible",
    "event": "the event with its id",
    "changes": "the values to write",
    "revision_seen": "the version you looked at",
    "external_execution_id": "the id of the execution",
}

# The input of the form in which a need is met, and what is said beside it.
ASKED_IN: Mapping[str, tuple[str, str]] = {
    "reason": (REASON, "Say why. The reason stays with the decision."),
    "statement": (REASON, "Say what you know, and how you know it."),
    "provider_ref or statement": (REASON, "Say what you know, and how you know it."),
    "an event that has the key fields": (
        EVENT,
        "The event has no value for what its key is made of. Type it there.",
    ),
    "risk_acknowledged": (RISK, "Tick this if a second send is acceptable; or decide otherwise."),
    "event": (EVENT, "Type the event with its id."),
    "external_execution_id": (EXECUTION, "Type the id of the execution."),
}

# Why a rule_failed was refused (detail.why), where it is not another outcome's word.
WHY: Mapping[str, str] = {
    "not_dead": "Its job is under way again.",
    "unchanged": "The content is the one that is stored.",
    "same_key": "This event gives the same key; change what the key is made of.",
    "key_known": "The key of this event is known already: something was done for it, or is under "
    "way.",
    "identity": "The content says what it is of, and would say something else than its event.",
    "may_have_landed": "A send under this key may have landed; other content needs a new key.",
    "provider_remembers_key": "The provider remembers this key with the old content; other content "
    "needs a new key.",
    "send_is_open": "A send of it may have landed: resend it as it is.",
    "change_proposed": "A change of it waits for a second person.",
    "no_job": "It names nothing that could be sent again.",
    "execution_known": "Its execution is known, and nothing is wrong with it.",
    "no_execution_to_stop": "No execution is known that could be stopped.",
    "not_flagged": "The run is not flagged.",
    "posted_from_outside": "This item came from outside, so Landed cannot enter it: enter it in "
    "its workflow, then abandon it here.",
    "job_has_its_key": "Its job exists under its key; abandon this item.",
}

# What an outcome means for a source where the general sentence would say too little.
_OF_SOURCES: Mapping[tuple[str, str], Words] = {
    ("failed_job", "in_review"): Words(
        LOST,
        "It waits for a decision elsewhere",
        "The job may have been sent before, so it was not sent again. The dead letter is closed, "
        "and the uncertain send is an item of its own.",
        "Decide the uncertain send.",
    ),
    ("failed_job", "already_decided"): Words(
        LOST,
        "Already decided",
        "This dead letter was decided before you, or its work had ended. Nothing was sent for you.",
        "Read how it ended; nothing more is needed unless that was wrong.",
    ),
    ("job", "already_decided"): Words(
        LOST,
        "The job moved on",
        "A worker or a person moved this job before you. Your decision was not carried out.",
        _QUEUE,
    ),
    ("job", "bad_transition"): Words(
        LOST,
        "It does not wait in the queue any more",
        "A worker took this job, or it waits elsewhere by now. Your decision was not carried out.",
        _QUEUE,
    ),
    ("batch", "already_decided"): Words(
        LOST,
        "The import moved on",
        "It went on, ended or was decided before you. Your decision was not carried out.",
        _QUEUE,
    ),
    ("run", "already_decided"): Words(
        LOST,
        "The run moved on",
        "Somebody decided or the engine answered before you. Your decision was not carried out.",
        _REFRESH,
    ),
}


# The form was sent once more, by a reload or a second press: nothing was lost by it.
YOURS = Words(
    GOOD,
    "You have decided this",
    "Your first decision stands; it was not carried out a second time.",
    _QUEUE,
)


def words(outcome: str, source: str = "conflict") -> Words:
    """Return the sentence for an outcome; one the table lacks is never shown as success."""
    return _OF_SOURCES.get((source, outcome)) or OUTCOMES.get(outcome, UNKNOWN)
