"""The words of a conflict's story that stand in tables: its title, and why a person is asked."""

from collections.abc import Mapping

from review.language import later

# What an item without a key is called where what came could not be read.
UNREADABLE = later("{workflow}: a report that could not be read")
# What an item is called, by its kind.
TITLES: Mapping[str, str] = {
    "stale_version": later("{record}: two writers changed the same row"),
    "rule_failed": later("{record}: the change breaks a rule"),
    "not_owner_of_field": later("{record}: a field of another workflow"),
    "bad_transition": later("{record}: not an allowed status move"),
    "lost_record": later("{record}: the row is gone"),
    "unknown_send": later("Did “{effect}” for {event} land?"),
    "missing_key": later("{workflow}: an item without a key"),
    "lost_claim": later("{key}: the job is gone"),
    "payload_mismatch": later("{key}: same key, other content"),
    "result_mismatch": later("{key}: a second, different result"),
}

# Why a person is asked: while they are, and afterwards.
ASKED: Mapping[str, tuple[str, str]] = {
    "sensitive": (
        later("a sensitive field is never retried by itself, so a person decides."),
        later("a sensitive field is never retried by itself, so a person was asked."),
    ),
    "again": (
        later("this is the {ordinal} attempt, so a person decides."),
        later("this is the {ordinal} attempt, so a person was asked."),
    ),
    "left": (
        later("nobody came back to try again, so a person decides."),
        later("nobody came back to try again, so a person was asked."),
    ),
    "twice": (
        later("A second send might repeat it, so a person decides."),
        later("A second send might repeat it, so a person was asked."),
    ),
    "spent": (
        later("No attempt is left, so a person decides."),
        later("No attempt is left, so a person was asked."),
    ),
    "undecided": (
        later("It cannot be decided by itself, so a person decides."),
        later("It cannot be decided by itself, so a person was asked."),
    ),
}
