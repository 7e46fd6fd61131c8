"""The sweep decision table, row by row, and the promises no combination of facts may break."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweeper.classes import ProviderClass
from sweeper.decisions.sweep import LONGEST_PAUSE, TABLE, Action, Facts, decide

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(seconds=10)
BEFORE = NOW - timedelta(seconds=10)

FORCED = Facts(
    recovery_class=ProviderClass.FORCED_UNIQUE,
    marked=True,
    may_retake=True,
    now=NOW,
    settle_until=SOON,
)
HANDLE = replace(
    FORCED, recovery_class=ProviderClass.ADVISORY_HANDLE, may_retake=False, can_look_up=True
)
BLIND = replace(HANDLE, recovery_class=ProviderClass.ADVISORY_BLIND, can_look_up=False)
LOOKED = replace(HANDLE, looked=True)
SETTLED = replace(LOOKED, settled=True, settle_until=BEFORE)

Row = tuple[str, Facts, dict[str, Any], str]
ROWS: list[Row] = [
    # any job
    ("evidence closes a forced-unique job", FORCED, {"positive": True}, "done"),
    ("evidence closes a job with a handle", HANDLE, {"positive": True}, "done"),
    ("evidence closes a blind job", BLIND, {"positive": True}, "done"),
    (
        "evidence closes without attempts left",
        FORCED,
        {"positive": True, "attempts_left": False},
        "done",
    ),
    ("a replayed stored error is for a person", FORCED, {"error_replayed": True}, "review"),
    (
        "a found effect outweighs the stored error",
        FORCED,
        {"error_replayed": True, "positive": True},
        "done",
    ),
    # not marked
    ("unmarked and safe is offered again", FORCED, {"marked": False}, "requeue"),
    (
        "unmarked and safe without attempts is handed back too, to be buried",
        FORCED,
        {"marked": False, "attempts_left": False},
        "requeue",
    ),
    ("unmarked advisory goes to review at once", HANDLE, {"marked": False}, "review"),
    ("unmarked blind goes to review at once", BLIND, {"marked": False}, "review"),
    (
        "unmarked advisory whose sends all come after the mark is offered again",
        BLIND,
        {"marked": False, "may_retake": True},
        "requeue",
    ),
    # overtaken in its lane
    (
        "unmarked, and a later job of the lane is done",
        FORCED,
        {"marked": False, "superseded": True},
        "review",
    ),
    ("marked, and a later job of the lane is done", FORCED, {"superseded": True}, "review"),
    (
        "it is asked by reference first, overtaken or not",
        FORCED,
        {"superseded": True, "can_look_up": True},
        "look_up",
    ),
    ("overtaken and landed is done", FORCED, {"superseded": True, "positive": True}, "done"),
    ("overtaken with a handle is looked up like any", HANDLE, {"superseded": True}, "look_up"),
    # forced-unique inside its key lifetime
    ("marked forced-unique gets the same key again", FORCED, {}, "requeue"),
    ("it is asked by reference first", FORCED, {"can_look_up": True}, "look_up"),
    (
        "what the reference did not show is re-driven under the key",
        FORCED,
        {"can_look_up": True, "looked": True, "settled": True, "absent": True},
        "requeue",
    ),
    (
        "a failed look-up is no obstacle either",
        FORCED,
        {"can_look_up": True, "looked": True, "lookups_exhausted": True},
        "requeue",
    ),
    ("without attempts left it is for a person", FORCED, {"attempts_left": False}, "review"),
    (
        "but it is asked by reference before",
        FORCED,
        {"attempts_left": False, "can_look_up": True},
        "look_up",
    ),
    # advisory with a handle
    ("a handle is searched first", HANDLE, {}, "look_up"),
    (
        "a handle without a driver here is a failed look-up",
        HANDLE,
        {"can_look_up": False},
        "look_up",
    ),
    ("absent inside the window waits", LOOKED, {}, "wait"),
    ("errors exhausted inside the window wait too", LOOKED, {"lookups_exhausted": True}, "wait"),
    ("after the window it is searched again", SETTLED, {"looked": False}, "look_up"),
    ("absent after the window is for a person", SETTLED, {"absent": True}, "review"),
    ("a failed look-up after the window waits", SETTLED, {}, "wait"),
    ("errors exhausted after the window: review", SETTLED, {"lookups_exhausted": True}, "review"),
    # advisory without a handle
    ("blind goes to review at once", BLIND, {}, "review"),
    ("blind does not wait for a window", BLIND, {"settle_until": None}, "review"),
]


@pytest.mark.parametrize(
    ("facts", "action"),
    [pytest.param(replace(base, **change), action, id=name) for name, base, change, action in ROWS],
)
def test_each_row_of_the_table(facts: Facts, action: str) -> None:
    """One situation, one answer."""
    assert decide(facts).action == action


def test_every_rule_is_reached_by_a_row() -> None:
    """A rule no example reaches is dead, or an example is missing."""
    reached = {decide(replace(base, **change)).reason for _, base, change, _ in ROWS}
    assert reached == {rule.reason for rule in TABLE}


def test_waiting_ends_with_the_settle_window() -> None:
    """The look that counts is made as soon as it counts, not a pause later."""
    assert decide(replace(LOOKED, lookups=5)).look_again_at == SOON


def test_pauses_grow_and_are_bounded() -> None:
    """A provider that stays down costs few calls, and is still asked at a known time."""
    first = decide(replace(SETTLED, lookups=1)).look_again_at
    later = decide(replace(SETTLED, lookups=1_000)).look_again_at
    assert first is not None
    assert later is not None
    assert NOW < first < later == NOW + LONGEST_PAUSE


times = st.integers(-3_600, 3_600).map(lambda seconds: NOW + timedelta(seconds=seconds))
facts = st.builds(
    Facts,
    recovery_class=st.sampled_from(ProviderClass),
    marked=st.booleans(),
    may_retake=st.booleans(),
    attempts_left=st.booleans(),
    positive=st.booleans(),
    error_replayed=st.booleans(),
    superseded=st.booleans(),
    can_look_up=st.booleans(),
    looked=st.booleans(),
    settled=st.booleans(),
    absent=st.booleans(),
    lookups_exhausted=st.booleans(),
    lookups=st.integers(0, 50),
    now=st.just(NOW),
    settle_until=st.none() | times,
).filter(
    # What the database can say: a marked job may be retaken exactly if its key is enforced.
    lambda f: not f.marked or f.may_retake == (f.recovery_class is ProviderClass.FORCED_UNIQUE)
)


# Without a deadline: how long one example takes says nothing here on a busy machine.
def for_all_facts(test: Callable[[Facts], None]) -> Callable[[], None]:
    """Run a test for whatever the database can say."""
    return settings(deadline=None)(given(facts)(test))


@for_all_facts
def test_a_marked_job_is_requeued_only_under_a_live_key(job: Facts) -> None:
    """No combination of facts lets the system send a marked advisory job again."""
    if decide(job).action is Action.REQUEUE:
        assert job.may_retake
        if job.marked:
            assert job.recovery_class is ProviderClass.FORCED_UNIQUE
            assert job.attempts_left


@for_all_facts
def test_nothing_overtaken_is_sent_again(job: Facts) -> None:
    """Older data after newer is a person's decision."""
    if job.superseded:
        assert decide(job).action is not Action.REQUEUE


@for_all_facts
def test_nothing_with_positive_evidence_is_sent_again(job: Facts) -> None:
    """Evidence that it landed ends a job, whatever else is true."""
    if job.positive:
        assert decide(job).action is Action.DONE


@for_all_facts
def test_done_needs_positive_evidence(job: Facts) -> None:
    """Absence, errors and silence never close a job."""
    if decide(job).action is Action.DONE:
        assert job.positive


@for_all_facts
def test_a_replayed_error_is_never_sent_again(job: Facts) -> None:
    """The same key would only replay it once more."""
    if job.error_replayed:
        assert decide(job).action in {Action.DONE, Action.REVIEW}


@for_all_facts
def test_no_review_by_absence_inside_the_settle_window(job: Facts) -> None:
    """With a handle, a marked job leaves for review only once absence, or silence, counts."""
    handle = job.recovery_class is ProviderClass.ADVISORY_HANDLE and job.marked
    if handle and not job.error_replayed and decide(job).action is Action.REVIEW:
        assert job.settled
        assert job.looked
        assert job.absent or job.lookups_exhausted


@for_all_facts
def test_blind_never_waits(job: Facts) -> None:
    """A blind marked job is closed by evidence or handed to a person at once."""
    if job.marked and job.recovery_class is ProviderClass.ADVISORY_BLIND:
        assert decide(job).action in {Action.DONE, Action.REVIEW}


@for_all_facts
def test_a_row_is_looked_up_at_most_once_per_hold(job: Facts) -> None:
    """The loop "look up, decide again" ends after one turn."""
    assert decide(replace(job, looked=True)).action is not Action.LOOK_UP


@for_all_facts
def test_only_waiting_has_a_time_and_it_lies_ahead(job: Facts) -> None:
    """``look_again_at`` comes with ``wait`` and never in the past."""
    decision = decide(job)
    assert (decision.look_again_at is not None) == (decision.action is Action.WAIT)
    if decision.look_again_at is not None:
        assert job.now < decision.look_again_at <= job.now + LONGEST_PAUSE
