"""The sweep decision table: what becomes of a job whose lease ran out.

Nothing here reads a clock, a row or a provider: the caller hands over the facts of one taken job
and does what the answer says. The database function ``decide_job`` holds the same table and
refuses whatever breaks it, so a mistake here can delay a row but never send twice.
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
    """What to do with the row: four verbs of ``decide_job`` and the look-up before them."""

    DONE = "done"
    REQUEUE = "requeue"
    REVIEW = "review"
    WAIT = "wait"
    LOOK_UP = "look_up"


class Kind(StrEnum):
    """The kinds of evidence the table reads; others are for people."""

    LOOKUP_FOUND = "lookup_found"
    LOOKUP_ABSENT = "lookup_absent"
    LOOKUP_ERROR = "lookup_error"
    RECEIPT = "receipt"
    LATE_RECEIPT = "late_receipt"
    ERROR_REPLAYED = "error_replayed"


POSITIVE = frozenset({Kind.LOOKUP_FOUND, Kind.RECEIPT, Kind.LATE_RECEIPT})


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation about one send of the job."""

    kind: str
    send_no: int
    observed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one taken job, as the database said it.

    ``looked`` says that this hold has already asked the provider: a row is looked up at most
    once per hold, whatever the answer was.
    """

    provider_class: ProviderClass
    lookup_by_reference: bool = False
    can_look_up: bool = False
    marked: bool
    may_redrive: bool
    native_claim: bool = False
    unmarked_action: str = "review"
    sends_dominated: bool = False
    attempts_exhausted: bool = False
    now: datetime
    settle_until: datetime | None = None
    lookups: int = 0
    lookup_errors: int = 0
    max_lookup_errors: int = 10
    looked: bool = False
    send_no: int = 0
    evidence: tuple[Evidence, ...] = ()

    @property
    def behaves_as(self) -> ProviderClass:
        """Past its key lifetime a forced-unique job is worth only what can be looked up."""
        if self.provider_class is not ProviderClass.FORCED_UNIQUE or self.may_redrive:
            return self.provider_class
        if self.lookup_by_reference:
            return ProviderClass.ADVISORY_HANDLE
        return ProviderClass.ADVISORY_BLIND

    @property
    def forced_unique(self) -> bool:
        """The provider itself refuses a second effect under this key, now."""
        return self.behaves_as is ProviderClass.FORCED_UNIQUE

    @property
    def has_handle(self) -> bool:
        """Nothing stops a second effect, but the first can be searched for."""
        return self.behaves_as is ProviderClass.ADVISORY_HANDLE

    @property
    def error_replayed(self) -> bool:
        """The provider answered this send with a stored error: the key is burnt."""
        return any(
            item.kind == Kind.ERROR_REPLAYED and item.send_no == self.send_no
            for item in self.evidence
        )

    @property
    def landed(self) -> bool:
        """Positive evidence that is good enough for a machine.

        Evidence of an earlier send proves only that the earlier one landed; a handle that is
        found proves it for the job, because every send of the job carries the same handle.
        """
        return any(
            item.kind in POSITIVE
            and (
                item.send_no == self.send_no or (item.kind == Kind.LOOKUP_FOUND and self.has_handle)
            )
            for item in self.evidence
        )

    @property
    def landed_before(self) -> bool:
        """Positive evidence exists, though only of an earlier send: a person may close on it."""
        return any(item.kind in POSITIVE for item in self.evidence) and not self.landed

    @property
    def may_be_requeued_unmarked(self) -> bool:
        """A claim without a mark proves "not sent" only where no send can bypass the mark."""
        return (
            self.forced_unique
            or self.native_claim
            or (self.unmarked_action == "requeue" and self.sends_dominated)
        )

    @property
    def settling(self) -> bool:
        """The provider's search may still lag behind: absence proves nothing yet."""
        return self.settle_until is None or self.now < self.settle_until

    @property
    def absent_after_settle(self) -> bool:
        """A look-up made after the settle window found nothing for the current send."""
        return self.settle_until is not None and any(
            item.kind == Kind.LOOKUP_ABSENT
            and item.send_no == self.send_no
            and item.observed_at >= self.settle_until
            for item in self.evidence
        )

    @property
    def lookups_exhausted(self) -> bool:
        """The provider could not be asked often enough to stop trying."""
        return self.lookup_errors >= self.max_lookup_errors


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


# Read from the top: the first row that applies decides. Everything under "not marked" is settled
# before anything about sends, so the rows below it may take "marked" for granted.
TABLE: tuple[Rule, ...] = (
    # any job
    Rule(lambda f: f.error_replayed, Action.REVIEW, "error_replayed"),
    Rule(lambda f: f.landed, Action.DONE, "landed"),
    Rule(lambda f: f.landed_before, Action.REVIEW, "only_an_earlier_send_landed"),
    # not marked: no settle window, no look-up
    Rule(lambda f: not f.marked and f.may_be_requeued_unmarked, Action.REQUEUE, "not_sent"),
    Rule(lambda f: not f.marked, Action.REVIEW, "unmarked_may_have_sent"),
    # forced-unique inside its key lifetime: ask if that can be done, otherwise the same key again
    Rule(
        lambda f: f.forced_unique and f.lookup_by_reference and f.can_look_up and not f.looked,
        Action.LOOK_UP,
        "query_by_reference",
    ),
    Rule(lambda f: f.forced_unique and f.attempts_exhausted, Action.REVIEW, "attempts_exhausted"),
    Rule(lambda f: f.forced_unique, Action.REQUEUE, "same_key_again"),
    # advisory with a handle: search; absence counts only after the settle window; never sent again
    Rule(lambda f: f.has_handle and not f.looked, Action.LOOK_UP, "search_by_handle"),
    Rule(lambda f: f.has_handle and f.settling, Action.WAIT, "settling"),
    Rule(lambda f: f.has_handle and f.absent_after_settle, Action.REVIEW, "absent_after_settle"),
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
    doublings = min(max(facts.lookups, facts.lookup_errors), 10)
    pause = min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)
    if facts.settle_until is not None and facts.now < facts.settle_until:
        return min(facts.now + pause, facts.settle_until)
    return facts.now + pause
