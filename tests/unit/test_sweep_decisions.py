"""The sweep decision table, row by row, and the promises no combination of facts may break."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.classes import ProviderClass
from sweeper.decisions.sweep import (
    LONGEST_PAUSE,
    POSITIVE,
    TABLE,
    Action,
    Evidence,
    Facts,
    Kind,
    decide,
)

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(seconds=10)
BEFORE = NOW - timedelta(seconds=10)
EARLIER = NOW - timedelta(seconds=20)

FORCED = Facts(
    provider_class=ProviderClass.FORCED_UNIQUE,
    marked=True,
    may_redrive=True,
    now=NOW,
    settle_until=SOON,
    send_no=1,
)
HANDLE = replace(
    FORCED,
    provider_class=ProviderClass.ADVISORY_HANDLE,
    may_redrive=False,
    can_look_up=True,
)
BLIND = replace(HANDLE, provider_class=ProviderClass.ADVISORY_BLIND, can_look_up=False)
SETTLED = replace(HANDLE, settle_until=BEFORE, looked=True)


def seen(kind: Kind, send_no: int = 1, at: datetime = NOW) -> tuple[Evidence, ...]:
    """Return one observation as the only evidence."""
    return (Evidence(kind, send_no, at),)


ROWS = [
    # any job
    ("a receipt closes a forced-unique job", FORCED, {"evidence": seen(Kind.RECEIPT)}, "done"),
    ("a receipt closes a blind job", BLIND, {"evidence": seen(Kind.RECEIPT)}, "done"),
    ("a late receipt closes", HANDLE, {"evidence": seen(Kind.LATE_RECEIPT)}, "done"),
    ("a found handle closes", HANDLE, {"evidence": seen(Kind.LOOKUP_FOUND)}, "done"),
    (
        "a handle found for an earlier send closes, every send carries the same one",
        HANDLE,
        {"evidence": seen(Kind.LOOKUP_FOUND), "send_no": 2},
        "done",
    ),
    (
        "a receipt of an earlier send is for a person",
        HANDLE,
        {"evidence": seen(Kind.RECEIPT), "send_no": 2},
        "review",
    ),
    (
        "a receipt of an earlier send stops a re-drive too",
        FORCED,
        {"evidence": seen(Kind.RECEIPT), "send_no": 2},
        "review",
    ),
    (
        "a charge found for an earlier send is for a person",
        FORCED,
        {"evidence": seen(Kind.LOOKUP_FOUND), "send_no": 2},
        "review",
    ),
    (
        "a replayed stored error allows only review",
        FORCED,
        {"evidence": seen(Kind.ERROR_REPLAYED)},
        "review",
    ),
    (
        "a replayed stored error beats positive evidence",
        FORCED,
        {"evidence": seen(Kind.ERROR_REPLAYED) + seen(Kind.RECEIPT)},
        "review",
    ),
    (
        "an error replayed to an earlier send says nothing about this one",
        FORCED,
        {"evidence": seen(Kind.ERROR_REPLAYED), "send_no": 2},
        "requeue",
    ),
    # not marked
    ("unmarked forced-unique is offered again", FORCED, {"marked": False}, "requeue"),
    ("unmarked advisory goes to review at once", HANDLE, {"marked": False}, "review"),
    ("unmarked blind goes to review at once", BLIND, {"marked": False}, "review"),
    (
        "unmarked native claim is offered again",
        BLIND,
        {"marked": False, "native_claim": True},
        "requeue",
    ),
    (
        "unmarked with the opt-in and a passing deploy check is offered again",
        HANDLE,
        {"marked": False, "unmarked_action": "requeue", "sends_dominated": True},
        "requeue",
    ),
    (
        "the opt-in alone proves nothing",
        HANDLE,
        {"marked": False, "unmarked_action": "requeue"},
        "review",
    ),
    (
        "a passing deploy check alone is no opt-in",
        HANDLE,
        {"marked": False, "sends_dominated": True},
        "review",
    ),
    # forced-unique inside its key lifetime
    ("marked forced-unique gets the same key again", FORCED, {}, "requeue"),
    (
        "marked forced-unique is asked by reference first",
        FORCED,
        {"lookup_by_reference": True, "can_look_up": True},
        "look_up",
    ),
    (
        "an absent reference is no obstacle: the key makes the re-drive safe",
        FORCED,
        {
            "lookup_by_reference": True,
            "can_look_up": True,
            "looked": True,
            "evidence": seen(Kind.LOOKUP_ABSENT),
        },
        "requeue",
    ),
    (
        "a failed look-up is none either",
        FORCED,
        {
            "lookup_by_reference": True,
            "can_look_up": True,
            "looked": True,
            "lookup_errors": 99,
            "evidence": seen(Kind.LOOKUP_ERROR),
        },
        "requeue",
    ),
    (
        "a marked job without attempts left is for a person",
        FORCED,
        {"attempts_exhausted": True},
        "review",
    ),
    # forced-unique past its key lifetime
    ("past its lifetime without a look-up: review", FORCED, {"may_redrive": False}, "review"),
    (
        "past its lifetime with a look-up: search",
        FORCED,
        {"may_redrive": False, "lookup_by_reference": True, "can_look_up": True},
        "look_up",
    ),
    (
        "past its lifetime, absent after settle: review, never again",
        FORCED,
        {
            "may_redrive": False,
            "lookup_by_reference": True,
            "looked": True,
            "settle_until": BEFORE,
            "evidence": seen(Kind.LOOKUP_ABSENT),
        },
        "review",
    ),
    # advisory with a handle
    ("a handle is searched first", HANDLE, {}, "look_up"),
    ("absent inside the window waits", HANDLE, {"looked": True}, "wait"),
    (
        "errors exhausted inside the window wait too",
        HANDLE,
        {"looked": True, "lookup_errors": 10},
        "wait",
    ),
    ("without a window yet it waits", HANDLE, {"looked": True, "settle_until": None}, "wait"),
    ("after the window it is searched again", SETTLED, {"looked": False}, "look_up"),
    (
        "absent after the window is for a person",
        SETTLED,
        {"evidence": seen(Kind.LOOKUP_ABSENT)},
        "review",
    ),
    (
        "absent seen before the window ended does not count",
        SETTLED,
        {"evidence": seen(Kind.LOOKUP_ABSENT, at=EARLIER)},
        "wait",
    ),
    (
        "absent of an earlier send does not count",
        SETTLED,
        {"evidence": seen(Kind.LOOKUP_ABSENT), "send_no": 2},
        "wait",
    ),
    ("a failed look-up after the window waits", SETTLED, {"lookup_errors": 9}, "wait"),
    ("errors exhausted after the window: review", SETTLED, {"lookup_errors": 10}, "review"),
    (
        "a missing driver is a failed look-up, bounded like any other",
        SETTLED,
        {"can_look_up": False, "lookup_errors": 10},
        "review",
    ),
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
    assert decide(replace(HANDLE, looked=True, lookups=5)).look_again_at == SOON


def test_pauses_grow_and_are_bounded() -> None:
    """A provider that stays down costs few calls, and is still asked at a known time."""
    first = decide(replace(SETTLED, lookup_errors=1)).look_again_at
    later = decide(replace(SETTLED, lookup_errors=1_000, max_lookup_errors=2_000)).look_again_at
    assert first is not None
    assert later is not None
    assert NOW < first < later == NOW + LONGEST_PAUSE


times = st.integers(-3_600, 3_600).map(lambda seconds: NOW + timedelta(seconds=seconds))
observations = st.builds(Evidence, st.sampled_from(Kind), st.integers(0, 3), times)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Build facts a database can hold: re-drivable means forced-unique."""
    provider_class = draw(st.sampled_from(ProviderClass))
    forced = provider_class is ProviderClass.FORCED_UNIQUE
    marked = draw(st.booleans())
    return Facts(
        provider_class=provider_class,
        lookup_by_reference=draw(st.booleans()),
        can_look_up=draw(st.booleans()),
        marked=marked,
        may_redrive=forced and (not marked or draw(st.booleans())),
        native_claim=draw(st.booleans()),
        unmarked_action=draw(st.sampled_from(["review", "requeue"])),
        sends_dominated=draw(st.booleans()),
        attempts_exhausted=draw(st.booleans()),
        now=NOW,
        settle_until=draw(st.none() | times),
        lookups=draw(st.integers(0, 20)),
        lookup_errors=draw(st.integers(0, 20)),
        max_lookup_errors=draw(st.integers(0, 10)),
        looked=draw(st.booleans()),
        send_no=draw(st.integers(0, 3)),
        evidence=tuple(draw(st.lists(observations, max_size=4))),
    )


@given(facts())
def test_a_marked_job_is_requeued_only_under_a_live_key(job: Facts) -> None:
    """No combination of facts lets the system send a marked advisory job again."""
    if decide(job).action is Action.REQUEUE and job.marked:
        assert job.provider_class is ProviderClass.FORCED_UNIQUE
        assert job.may_redrive
        assert not job.attempts_exhausted


@given(facts())
def test_nothing_with_positive_evidence_is_sent_again(job: Facts) -> None:
    """Once anything proves a send landed, only done or a person may follow."""
    if any(item.kind in POSITIVE for item in job.evidence):
        assert decide(job).action in {Action.DONE, Action.REVIEW}


@given(facts())
def test_done_needs_positive_evidence(job: Facts) -> None:
    """Absence, errors and silence never close a job."""
    if decide(job).action is Action.DONE:
        assert any(item.kind in POSITIVE for item in job.evidence)


@given(facts())
def test_no_review_by_absence_inside_the_settle_window(job: Facts) -> None:
    """With a handle, a marked job without proof leaves for review only after settling."""
    handle = job.behaves_as is ProviderClass.ADVISORY_HANDLE
    if job.marked and handle and not job.evidence and decide(job).action is Action.REVIEW:
        assert job.settle_until is not None
        assert job.now >= job.settle_until
        assert job.lookup_errors >= job.max_lookup_errors


@given(facts())
def test_blind_never_waits(job: Facts) -> None:
    """A blind marked job is closed by evidence or handed to a person at once."""
    if job.marked and job.behaves_as is ProviderClass.ADVISORY_BLIND:
        assert decide(job).action in {Action.DONE, Action.REVIEW}


@given(facts())
def test_a_row_is_looked_up_at_most_once_per_hold(job: Facts) -> None:
    """The loop "look up, decide again" ends after one turn."""
    assert decide(replace(job, looked=True)).action is not Action.LOOK_UP


@given(facts())
def test_only_waiting_has_a_time_and_it_lies_ahead(job: Facts) -> None:
    """``look_again_at`` comes with ``wait`` and never in the past."""
    decision = decide(job)
    assert (decision.look_again_at is not None) == (decision.action is Action.WAIT)
    if decision.look_again_at is not None:
        assert job.now < decision.look_again_at <= job.now + LONGEST_PAUSE
