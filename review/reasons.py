"""The machine's reasons in words: why the sweeper or the ledger did what it did. Pure."""

from collections.abc import Mapping

from review.language import later

REASONS: Mapping[str, str] = {
    # the sweep's decision table
    "landed": later("there is proof that it landed"),
    "error_replayed": later(
        "the provider repeats a stored error, which says nothing of the effect"
    ),
    "not_sent": later("it was never marked as sent, so it is safe to start again"),
    "unmarked_may_have_sent": later("never marked, but the workflow may send without marking"),
    "query_by_reference": later("the provider can be asked by reference"),
    "same_key_again": later("the provider refuses a repeat of the same key"),
    "attempts_exhausted": later("no attempt is left"),
    "search_by_handle": later("the provider can be searched by handle"),
    "settling": later("absent so far; the settle window is open"),
    "absent_after_settle": later("still absent after the settle window, which is no proof"),
    "lookup_unavailable": later("the provider could not be asked often enough"),
    "look_again": later("asked again later"),
    "nobody_can_tell": later("the provider cannot be asked"),
    "superseded_by": later(
        "a later job of its lane is done: this one would send older data after newer"
    ),
    # the ledger itself
    "key_lifetime_over": later("the provider may have forgotten the key by now"),
    "dead_letter_was_marked": later("a retry of this dead letter could send twice"),
}


def in_words(reason: str) -> str:
    """Say a reason in words; one that is not in the table is a person's own and stays as it is."""
    return str(REASONS.get(reason, reason))
