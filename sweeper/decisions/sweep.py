"""The sweep decision table: what becomes of a job whose lease ran out.

Nothing here reads a clock, a row or a provider: the caller hands over the facts of one taken job,
as the database worked them out, and does what the answer says. The database function
``decide_job`` holds the same table and refuses whatever breaks it, so a mistake here can delay a
row but never send twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sweeper.classes import ProviderClass

# First look again after half a minute (most search indexes have caught up by then), doubling up
# to ten minutes so that an outage of a provider costs few calls.
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=10)


class Action(StrEnum):
    """What to do with the row: the four verbs of ``decide_job`` and the look-up before them."""

    DONE = "done"
    REQUEUE = "requeue"
    REVIEW = "review"
    WAIT = "wait"
    LOOK_UP = "look_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one taken job; the names are those of ``take_expired_jobs``.

    ``recovery_class`` is what the provider is worth for this job now: a forced-unique one that no
    longer remembers the key counts as advisory. ``may_retake`` says that sending is safe by
    construction: unmarked where no send can bypass the mark, marked where the key is still
    enforced. ``positive`` is evidence good enough for a machine, ``absent`` a look-up that found
    nothing after the settle window, ``superseded`` that a later job of the same lane is done.
    ``looked`` says that this hold has already asked the provider, or may not: a row is looked up at
    most once per hold, whatever the answer was.
    """

    recovery_class: ProviderClass
    marked: bool
    may_retake: bool
    attempts_left: bool = True
    positive: bool = False
    error_replayed: bool = False
    superseded: bool = False
    can_look_up: bool = False
    looked: bool = False
    settled: bool = False
    absent: bool = False
    lookups_exhausted: bool = False
    lookups: int = 0
    now: datetime
    settle_until: datetime | None = None

    @property
    def forced_unique(self) -> bool:
        """The provider itself refuses a second effect under this key, now."""
        return self.recovery_class is ProviderClass.FORCED_UNIQUE

    @property
    def has_handle(self) -> bool:
        """Nothing stops a second effect, but the first can be searched for."""
        return self.recovery_class is ProviderClass.ADVISORY_HANDLE


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of the table; ``look_again_at`` is set for ``wait`` and only then."""

    action: Action
    reason: str
    look_again_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: when it applies and what follows."""

    when: Callable[[Facts], bool]
    action: Action
    reason: str


# Read from the top: the first row that applies decides. Whatever is not marked is settled before
# anything about sends, so the rows below may take "marked" for granted.
TABLE: tuple[Rule, ...] = (
    # any job
    Rule(lambda f: f.positive, Action.DONE, "landed"),
    Rule(lambda f: f.error_replayed, Action.REVIEW, "error_replayed"),
    # a later job of the lane is done: what is older is not sent after it without a person
    Rule(lambda f: not f.marked and f.superseded, Action.REVIEW, "superseded_by"),
    # not marked: no settle window, no look-up; without attempts left the ledger buries it
    Rule(lambda f: not f.marked and f.may_retake, Action.REQUEUE, "not_sent"),
    Rule(lambda f: not f.marked, Action.REVIEW, "unmarked_may_have_sent"),
    # forced-unique inside its key lifetime: ask if that can be done, otherwise the same key again
    Rule(
        lambda f: f.forced_unique and f.can_look_up and not f.looked,
        Action.LOOK_UP,
        "query_by_reference",
    ),
    Rule(lambda f: f.forced_unique and f.superseded, Action.REVIEW, "superseded_by"),
    Rule(lambda f: f.forced_unique and f.attempts_left, Action.REQUEUE, "same_key_again"),
    Rule(lambda f: f.forced_unique, Action.REVIEW, "attempts_exhausted"),
    # advisory with a handle: search; absence counts only after the settle window; never sent again
    Rule(lambda f: f.has_handle and not f.looked, Action.LOOK_UP, "search_by_handle"),
    Rule(lambda f: f.has_handle and not f.settled, Action.WAIT, "settling"),
    Rule(lambda f: f.has_handle and f.absent, Action.REVIEW, "absent_after_settle"),
    Rule(lambda f: f.has_handle and f.lookups_exhausted, Action.REVIEW, "lookup_unavailable"),
    Rule(lambda f: f.has_handle, Action.WAIT, "look_again"),
    # advisory without a handle, and whatever is unknown: a person, always
    Rule(lambda _: True, Action.REVIEW, "nobody_can_tell"),
)


def decide(facts: Facts) -> Decision:
    """Return the first row of the table that applies to one job."""
    rule = next(rule for rule in TABLE if rule.when(facts))
    if rule.action is Action.WAIT:
        return Decision(rule.action, rule.reason, _look_again_at(facts))
    return Decision(rule.action, rule.reason)


def _look_again_at(facts: Facts) -> datetime:
    """Space looks out, but never sleep past the end of the settle window."""
    pause = min(FIRST_PAUSE * (1 << min(facts.lookups, 10)), LONGEST_PAUSE)
    if not facts.settled and facts.settle_until is not None and facts.now < facts.settle_until:
        return min(facts.now + pause, facts.settle_until)
    return facts.now + pause
