"""Which decisions end which kind of item: one table, read by the pages, the buttons and the tests.

Pure data. The ledger decides what really is allowed; what stands here decides what is offered, with
which right, and which sentence stands beside the button. A verb is an address
(/admin/queue/conflict/<id>/<verb>/), a decision is the word the ledger stores.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from review.decisions import EVENT, REASON, REFERENCE, RISK, STATEMENT, Decision, Kind
from review.language import later
from review.setup import SETUP
from review.sources import SOURCES

# A form's word for "write the row as shown"; the choices say whether that is apply or merge.
AS_SHOWN: Final = "as_shown"

_AS_SHOWN = Decision(
    "resolve",
    AS_SHOWN,
    later("Merge as shown"),
    "{merge}{second}",
    tone="go",
    key="r",
)
_KEEP_CURRENT = Decision("resolve", "keep", later("Keep current"), "{keep}")
_RESEND_WRITE = Decision(
    "resend",
    "resend",
    later("Resend to workflow"),
    later("Writes nothing now. {workflow} may take the event again and write from a fresh read."),
    key="s",
)
_ABANDON_WRITE = Decision(
    "abandon",
    "abandon",
    later("Abandon"),
    later(
        "Writes nothing. The event is closed as given up; a redelivery is answered, not applied."
    ),
    tone="risk",
    key="a",
)
_FIELD_DECISIONS = (_AS_SHOWN, _KEEP_CURRENT, _RESEND_WRITE, _ABANDON_WRITE)

_KEEP_STORED = Decision(
    "resolve",
    "keep",
    later("Keep stored"),
    later("Nothing changes. The same content coming again gets the stored answer."),
    tone="go",
    key="r",
)
_ABANDON_PLAIN = Decision(
    "abandon",
    "abandon",
    later("Abandon"),
    later("Nothing is written or sent. The new content is given up for good."),
    tone="risk",
    key="a",
)

KINDS: Mapping[str, Kind] = {
    "stale_version": Kind(later("lost change"), "⇄", "warn", _FIELD_DECISIONS),
    "rule_failed": Kind(later("rule failed"), "⊘", "warn", _FIELD_DECISIONS),
    "not_owner_of_field": Kind(later("not its field"), "⊘", "warn", _FIELD_DECISIONS),
    "bad_transition": Kind(later("bad status move"), "⇤", "warn", _FIELD_DECISIONS),
    "lost_record": Kind(
        later("record gone"),
        "∅",
        "warn",
        (
            Decision(
                "resend",
                "resend",
                later("Resend to workflow"),
                later(
                    "Writes nothing now. {workflow} may take the event again and create {record} "
                    "anew."
                ),
                tone="go",
                key="s",
            ),
            _ABANDON_WRITE,
        ),
    ),
    "unknown_send": Kind(
        later("uncertain send"),
        "?",
        "unknown",
        (
            Decision(
                "look-again",
                "look_again",
                later("Look again"),
                later("Asks {provider} now. Adds evidence, changes nothing."),
                tone="go",
                key="l",
                needs=(),
            ),
            Decision(
                "resolve",
                "landed",
                later("It landed"),
                later(
                    "Closes the job as done. Landed sends nothing more. A redelivery gets this "
                    "answer."
                ),
                key="r",
                needs=(REASON, STATEMENT, REFERENCE),
            ),
            Decision(
                "resolve",
                "not_landed",
                later("It did not land"),
                later(
                    "Closes the job as failed; nobody wants it any more. Landed sends nothing more."
                ),
                needs=(REASON, STATEMENT),
            ),
            Decision(
                "resend",
                "resend",
                later("Resend"),
                "{resend}",
                key="s",
                needs=(REASON, RISK),
            ),
            Decision(
                "abandon",
                "abandon",
                later("Abandon"),
                later(
                    "Gives it up without knowing. Landed sends nothing more; the key stays closed."
                ),
                tone="risk",
                key="a",
            ),
        ),
    ),
    "missing_key": Kind(
        later("missing key"),
        "⚷",
        "bad",
        (
            Decision(
                "resend",
                "resend",
                later("Enter with this event"),
                later(
                    "Makes the key from the event you typed and enters the parked item once under "
                    "it."
                ),
                tone="go",
                key="s",
                needs=(REASON, EVENT),
            ),
            _ABANDON_PLAIN,
        ),
    ),
    "lost_claim": Kind(
        later("claim gone"),
        "∅",
        "bad",
        (
            Decision(
                "resend",
                "resend",
                later("Make the job again"),
                later("Makes a new job from the event, under the same key. A worker may send it."),
                tone="go",
                key="s",
            ),
            _ABANDON_PLAIN,
        ),
    ),
    "payload_mismatch": Kind(
        later("payload changed"),
        "≠",
        "warn",
        (
            _KEEP_STORED,
            Decision(
                "resolve",
                "accept_new",
                later("Accept new"),
                later("Takes the new content under the same key, as its next version. {accept}"),
            ),
            _ABANDON_PLAIN,
        ),
    ),
    "result_mismatch": Kind(
        later("result differs"),
        "≠",
        "warn",
        (
            _KEEP_STORED,
            Decision(
                "resolve",
                "accept_new",
                later("Accept new"),
                later(
                    "Replaces the stored result; the old one stays in the audit. Nothing is sent."
                ),
            ),
        ),
    ),
}

# A report from outside that nobody could read has no kind of its own in the ledger.
UNREADABLE = replace(KINDS["missing_key"], label=later("unreadable report"), icon="!")
UNKNOWN_KIND = Kind(later("waiting"), "◌", "plain")

# A stored proposal is confirmed or thrown away by somebody else.
SECOND_PERSON = (
    Decision(
        "approve",
        "approve",
        later("Approve"),
        later("Carries out what {proposer} proposed, at the version it was proposed for."),
        tone="go",
        key="r",
    ),
    Decision(
        "reject",
        "reject",
        later("Reject"),
        later("Throws the proposal away. Nothing is written; the item stays open."),
        tone="risk",
        key="a",
    ),
)

# Who proposed it cannot confirm it, but can take it back.
SECOND_OWN = (
    SECOND_PERSON[0],
    Decision(
        "take-back",
        "take_back",
        later("Take my proposal back"),
        later("Takes your proposal off the table. Nothing is written; the item stays open."),
        key="a",
    ),
)

OWN_PROPOSAL: Final = later("You proposed this. A second person has to confirm it, on this page.")

WITHDRAW = Decision(
    "withdraw",
    "withdraw",
    later("Take it back"),
    later("Stops the resend while it still waits, and puts everything back as it was."),
    key="z",
    needs=(),
)


def is_offered(kind: str, verb: str, decision: str) -> bool:
    """Say whether a kind of conflict has a decision, and under this verb, with its right."""
    table = (*KINDS.get(kind, UNKNOWN_KIND).decisions, *SECOND_PERSON, *SECOND_OWN, WITHDRAW)
    return any((each.verb, each.decision) == (verb, decision) for each in table)


def decisions_of(source: str) -> tuple[Decision, ...]:
    """Return every decision that a page of a source may offer, whatever its kind and state."""
    second = (*SECOND_PERSON, *SECOND_OWN)
    if source == "conflict":
        return (*(each for kind in KINDS.values() for each in kind.decisions), *second, WITHDRAW)
    kind = SETUP.get(source) or SOURCES.get(source, UNKNOWN_KIND)
    return (*kind.decisions, *second) if source == "failed_job" else kind.decisions


def find_decision(source: str, verb: str, decision: str) -> Decision | None:
    """Return a decision of what is no conflict under a verb, or None where no table has it."""
    named = (each for each in decisions_of(source) if each.decision == decision)
    return next((each for each in named if each.verb == verb), None)


def kind_of(source: str, kind: str) -> Kind:
    """Return how an item is named and ended; what is not known is still shown."""
    if source == "conflict":
        return KINDS.get(kind, UNKNOWN_KIND)
    return SOURCES.get(source, UNKNOWN_KIND)
