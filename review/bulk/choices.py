"""What can be done to many items at once, and what it means for each kind. Pure.

A choice is carried out as the decision that the item's own page offers under the same verb. What
needs a look at each item (apply, merge, landed, accept new, an event to type) is no choice here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from review.decisions import EVENT, VERB_RIGHTS, Decision
from review.language import later
from review.verbs import kind_of


@dataclass(frozen=True, slots=True)
class Choice:
    """One way out for many items: its verb, and the decisions that are this way out somewhere."""

    word: str
    label: str
    verb: str
    decisions: frozenset[str]
    tone: str = "plain"

    @property
    def right(self) -> str:
        """The right it needs beside the one for bulk."""
        return VERB_RIGHTS[self.verb]


CHOICES: Final[Mapping[str, Choice]] = {
    each.word: each
    for each in (
        Choice("keep", later("Keep what is stored"), "resolve", frozenset({"keep"})),
        Choice("acknowledge", later("Acknowledge"), "resolve", frozenset({"acknowledge"})),
        Choice(
            "resend", later("Resend"), "resend", frozenset({"resend", "run_now", "retry"}), "go"
        ),
        Choice("abandon", later("Abandon"), "abandon", frozenset({"abandon", "drop"}), "risk"),
    )
}

# Kept with the items that are left out, so in the words of the code.
NOT_FOR_KIND: Final = "This is no way to end such an item."
NEEDS_EVENT: Final = "Each needs its event typed: decide it on its own page."

_FIELD_KINDS = ("stale_version", "rule_failed", "not_owner_of_field", "bad_transition")
_CLOSED = later(
    "Nothing is written. The event is closed as given up; a redelivery is answered, not applied."
)
_GIVEN_UP = later("Nothing is written or sent. What came is given up for good.")
_STANDS = later("Nothing changes. The same content coming again gets the stored answer.")

# By the decision's word, then by kind (of what is no conflict: by source): what each of them means.
_MEANS: Final[Mapping[str, Mapping[str, str]]] = {
    "resend": {
        **dict.fromkeys(
            _FIELD_KINDS,
            later(
                "Nothing is written now. Each workflow may take its event again and write from a "
                "fresh read."
            ),
        ),
        "lost_record": later(
            "Nothing is written now. Each workflow may take its event again and create its record "
            "anew."
        ),
        "unknown_send": later(
            "Sent again with the same key and content; its provider refuses a repeat. It waits for "
            "the undo window first. From policy four_eyes_amount on it becomes a proposal for a "
            "second person."
        ),
        "lost_claim": later("A new job is made under the same key. A worker may send it."),
        "failed_job": later(
            "Its job is queued again with the same key, or its event is entered under its key: "
            "what was done before is not sent again."
        ),
    },
    "run_now": {
        "job": later("Due from now on: the next free worker takes it and may send."),
    },
    "retry": {
        "outbox": later("The same message is offered to its receiver again, under the same key."),
    },
    "abandon": {
        **dict.fromkeys((*_FIELD_KINDS, "lost_record"), _CLOSED),
        "unknown_send": later(
            "Given up without knowing whether it landed. Landed sends nothing more; the key stays "
            "closed."
        ),
        **dict.fromkeys(("missing_key", "lost_claim", "payload_mismatch"), _GIVEN_UP),
        "failed_job": later(
            "Given up. Landed sends nothing more; where a dead job stands behind it, that and its "
            "key close for good."
        ),
        "job": later("The job and its key close for good. Landed sends nothing more."),
    },
    "drop": {"outbox": later("Never delivered: whoever listens does not learn of it.")},
    "keep": {
        **dict.fromkeys(_FIELD_KINDS, later("The record stays as it is; the change is given up.")),
        **dict.fromkeys(("payload_mismatch", "result_mismatch"), _STANDS),
    },
    "acknowledge": {
        "failed_job": later(
            "Seen, and off the queue. Nothing is sent; it can still be resent or abandoned later."
        ),
        "batch": later(
            "The failure is seen. Nothing is started; the next start goes on from where it stopped."
        ),
    },
}


def decision_of(choice: Choice, source: str, kind: str) -> Decision | None:
    """Return the decision a choice is for a kind of item, or None where its page has none."""
    return next(
        (
            each
            for each in kind_of(source, kind).decisions
            if each.verb == choice.verb and each.decision in choice.decisions
        ),
        None,
    )


def barred(choice: Choice, source: str, kind: str) -> str:
    """Say why a whole kind is left out of a choice, or nothing."""
    decision = decision_of(choice, source, kind)
    if decision is None:
        return NOT_FOR_KIND
    return NEEDS_EVENT if EVENT in decision.needs else ""


def meaning(choice: Choice, source: str, kind: str) -> str:
    """Say what a choice does to each item of a kind."""
    decision = decision_of(choice, source, kind)
    if decision is None:
        return ""
    return _MEANS[decision.decision][kind if source == "conflict" else source]
