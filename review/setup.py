"""Which decisions change how Landed is set up: policies, providers, retention, fields, ticks. Pure.

The same shape as the kinds of what waits (sources.py), so that one mechanism carries them out: a
button, a right, a reason, one operation. Nothing here ever stands in the queue.
"""

from collections.abc import Mapping

from review.decisions import Decision, Kind
from review.language import later

_POLICY = (
    Decision(
        "administer",
        "set_policy",
        later("Set the policy"),
        later(
            "Counts from now on, for the code and for what watches it. The old value stays in the "
            "audit."
        ),
        tone="go",
    ),
)

_PROVIDER = (
    Decision(
        "administer",
        "save_provider",
        later("Save the provider"),
        later(
            "Counts from the next look at each job of {provider}; what is decided stays decided. "
            "The "
            "class says what recovery may do without a person: a wrong one can send twice."
        ),
        tone="go",
    ),
)

_RETENTION = (
    Decision(
        "administer",
        "sign_archive_expiry",
        later("Sign the archive expiry"),
        later(
            "From then on archived keys of {provider} are forgotten for good once they are so old: "
            "an "
            "event that comes again after that is new. Your name is kept with it."
        ),
        tone="risk",
    ),
)

_FIELD = (
    Decision(
        "administer",
        "mark_sensitive",
        later("Mark as sensitive"),
        later(
            "From now on no change of {field} is merged or retried without a person, and a second "
            "one "
            "confirms it."
        ),
        tone="go",
    ),
    Decision(
        "administer",
        "unmark_sensitive",
        later("Mark as ordinary"),
        later(
            "From now on {field} is merged and retried by itself where that is safe, and one "
            "person is "
            "enough."
        ),
        tone="risk",
    ),
)

_TICK = (
    Decision(
        "administer",
        "run_tick",
        later("Run now"),
        later(
            "Runs {tick} once, here, and waits for its end: at most 45 seconds and what it has "
            "begun. "
            "It takes the same lock as the schedule, so two never run at once."
        ),
        tone="go",
        needs=(),
    ),
)

_SEALS = (
    Decision(
        "verify",
        "verify_audit",
        later("Verify the newest"),
        later(
            "Recomputes {rows} rows and {seals} of the last seals, and says which are not as they "
            "were "
            "written. Nothing is changed."
        ),
        tone="go",
        needs=(),
    ),
)

SETUP: Mapping[str, Kind] = {
    "policy": Kind(later("policy"), "⚙", "plain", _POLICY),
    "provider": Kind(later("provider"), "⚙", "plain", _PROVIDER),
    "retention": Kind(later("retention"), "⚙", "plain", _RETENTION),
    "field": Kind(later("field"), "⚙", "plain", _FIELD),
    "tick": Kind(later("tick"), "⚙", "plain", _TICK),
    "workflow": Kind(later("workflow"), "⚙", "plain"),
    "seals": Kind(later("seals"), "⚙", "plain", _SEALS),
}
