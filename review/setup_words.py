"""What came of a change of the set-up, in plain English. Pure."""

from collections.abc import Mapping
from typing import Final

from review.outcomes import GOOD, LOST, REFUSED, Words

_FRESH: Final = "The page below shows it as it is now."

# By decision and outcome; without a decision, what holds for any of them.
SETUP_WORDS: Mapping[tuple[str, str], Words] = {
    ("set_policy", "won"): Words(
        GOOD, "The policy is set", "It counts from now on, here and for what watches it.", _FRESH
    ),
    ("save_provider", "won"): Words(
        GOOD, "The provider is saved", "It counts from the next look at each of its jobs.", _FRESH
    ),
    ("sign_archive_expiry", "won"): Words(
        GOOD, "The expiry is signed", "Your name stands beside it from now on.", _FRESH
    ),
    ("mark_sensitive", "won"): Words(
        GOOD, "The field is sensitive", "A second person confirms every change of it.", _FRESH
    ),
    ("unmark_sensitive", "won"): Words(
        GOOD, "The field is ordinary", "One person is enough for a change of it.", _FRESH
    ),
    ("run_tick", "won"): Words(
        GOOD, "The tick ran", "It came to its end; what it did is below.", _FRESH
    ),
    ("run_tick", "held_by_other"): Words(
        LOST, "It runs already", "Another process holds its lock, so it was not run twice.", _FRESH
    ),
    ("run_tick", "lost_claim"): Words(
        LOST,
        "It lost its lock",
        "It took longer than its lease, and another process went on with it.",
        "See below who runs it now.",
    ),
    ("verify_audit", "empty"): Words(
        GOOD,
        "The audit is whole",
        "Every row and every seal that was looked at is as it was written.",
        "manage.py verify_audit looks at all of it.",
    ),
    ("verify_audit", "won"): Words(
        REFUSED,
        "The audit is broken",
        "Rows or seals are not what was written; they are named below.",
        "Keep a copy of the database now, then run manage.py verify_audit.",
    ),
    ("", "replay"): Words(
        GOOD, "Nothing to change", "It stands like this already; nothing was written.", _FRESH
    ),
    ("", "rule_failed"): Words(
        REFUSED, "Not allowed as it stands", "Nothing was changed.", "Correct it and try again."
    ),
    ("", "stale_version"): Words(
        LOST,
        "Somebody was faster",
        "It was changed since this page was drawn. Yours was not written.",
        "Look at what stands now, and change it again if you still want to.",
    ),
}
