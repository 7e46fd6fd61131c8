"""What a refused decision asks for, where that is typed, and why it was refused. Pure."""

from collections.abc import Mapping

from review.decisions import EVENT, EXECUTION, REASON, RISK
from review.language import later

# What a rule_failed asks for (detail.needs), as the person who has to supply it would say it.
NEEDS: Mapping[str, str] = {
    "reason": later("a reason"),
    "statement": later("a statement of what you know and how"),
    "provider_ref or statement": later("the provider's reference, or a statement"),
    "risk_acknowledged": later("the tick that a second send is possible"),
    "event": later("the event with its id"),
    "changes": later("the values to write"),
    "revision_seen": later("the version you looked at"),
    "external_execution_id": later("the id of the execution"),
}

# The input of the form in which a need is met, and what is said beside it.
ASKED_IN: Mapping[str, tuple[str, str]] = {
    "reason": (REASON, later("Say why. The reason stays with the decision.")),
    "statement": (REASON, later("Say what you know, and how you know it.")),
    "provider_ref or statement": (REASON, later("Say what you know, and how you know it.")),
    "an event that has the key fields": (
        EVENT,
        later("The event has no value for what its key is made of. Type it there."),
    ),
    "risk_acknowledged": (
        RISK,
        later("Tick this if a second send is acceptable; or decide otherwise."),
    ),
    "event": (EVENT, later("Type the event with its id.")),
    "external_execution_id": (EXECUTION, later("Type the id of the execution.")),
}

# Why a rule_failed was refused (detail.why), where it is not another outcome's word.
WHY: Mapping[str, str] = {
    "not_dead": later("Its job is under way again."),
    "unchanged": later("The content is the one that is stored."),
    "same_key": later("This event gives the same key; change what the key is made of."),
    "key_known": later(
        "The key of this event is known already: something was done for it, or is under way."
    ),
    "identity": later(
        "The content says what it is of, and would say something else than its event."
    ),
    "may_have_landed": later(
        "A send under this key may have landed; other content needs a new key."
    ),
    "provider_remembers_key": later(
        "The provider remembers this key with the old content; other content needs a new key."
    ),
    "send_is_open": later("A send of it may have landed: resend it as it is."),
    "change_proposed": later("A change of it waits for a second person."),
    "no_job": later("It names nothing that could be sent again."),
    "execution_known": later("Its execution is known, and nothing is wrong with it."),
    "no_execution_to_stop": later("No execution is known that could be stopped."),
    "not_flagged": later("The run is not flagged."),
    "posted_from_outside": later(
        "This item came from outside, so Landed cannot enter it: enter it in "
        "its workflow, then abandon it here."
    ),
    "job_has_its_key": later("Its job exists under its key; abandon this item."),
}
