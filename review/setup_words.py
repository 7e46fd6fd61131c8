"""What came of a change of the set-up, in plain English. Pure."""

from collections.abc import Mapping
from typing import Final

from review.language import later
from review.outcomes import GOOD, LOST, REFUSED, Words

_FRESH: Final = later("The page below shows it as it is now.")

# By decision and outcome; without a decision, what holds for any of them.
SETUP_WORDS: Mapping[tuple[str, str], Words] = {
    ("set_policy", "won"): Words(
        GOOD,
        later("The policy is set"),
        later("It counts from now on, here and for what watches it."),
        _FRESH,
    ),
    ("save_provider", "won"): Words(
        GOOD,
        later("The provider is saved"),
        later("It counts from the next look at each of its jobs."),
        _FRESH,
    ),
    ("sign_archive_expiry", "won"): Words(
        GOOD,
        later("The expiry is signed"),
        later("Your name stands beside it from now on."),
        _FRESH,
    ),
    ("mark_sensitive", "won"): Words(
        GOOD,
        later("The field is sensitive"),
        later("A second person confirms every change of it."),
        _FRESH,
    ),
    ("unmark_sensitive", "won"): Words(
        GOOD,
        later("The field is ordinary"),
        later("One person is enough for a change of it."),
        _FRESH,
    ),
    ("run_tick", "won"): Words(
        GOOD, later("The tick ran"), later("It came to its end; what it did is below."), _FRESH
    ),
    ("run_tick", "held_by_other"): Words(
        LOST,
        later("It runs already"),
        later("Another process holds its lock, so it was not run twice."),
        _FRESH,
    ),
    ("run_tick", "lost_claim"): Words(
        LOST,
        later("It lost its lock"),
        later("It took longer than its lease, and another process went on with it."),
        later("See below who runs it now."),
    ),
    ("verify_audit", "empty"): Words(
        GOOD,
        later("The audit is whole"),
        later("Every row and every seal that was looked at is as it was written."),
        later("manage.py verify_audit looks at all of it."),
    ),
    ("verify_audit", "won"): Words(
        REFUSED,
        later("The audit is broken"),
        later("Rows or seals are not what was written; they are named below."),
        later("Keep a copy of the database now, then run manage.py verify_audit."),
    ),
    ("", "replay"): Words(
        GOOD,
        later("Nothing to change"),
        later("It stands like this already; nothing was written."),
        _FRESH,
    ),
    ("", "rule_failed"): Words(
        REFUSED,
        later("Not allowed as it stands"),
        later("Nothing was changed."),
        later("Correct it and try again."),
    ),
    ("", "stale_version"): Words(
        LOST,
        later("Somebody was faster"),
        later("It was changed since this page was drawn. Yours was not written."),
        later("Look at what stands now, and change it again if you still want to."),
    ),
}
