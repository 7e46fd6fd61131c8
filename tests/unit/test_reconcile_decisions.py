"""The reconcile decision table: what no combination of facts may break."""

from hypothesis import given
from hypothesis import strategies as st

from sweeper.decisions.reconcile import ENDED, UNREACHABLE, UNSEEN, WAITING, Action, Facts, decide

STATUSES = sorted(ENDED | UNSEEN | {UNREACHABLE, WAITING, "new", "running"})

FACTS = st.builds(
    Facts,
    has_execution=st.booleans(),
    engine_status=st.sampled_from(STATUSES),
    stopped=st.booleans(),
    grace_over=st.booleans(),
    unseen_too_long=st.booleans(),
    stop_asked=st.booleans(),
    past_deadline=st.booleans(),
    muted=st.booleans(),
)


@given(FACTS)
def test_nothing_ends_that_the_engine_did_not_end(facts: Facts) -> None:
    """Only a seen end, and only after the grace."""
    ends = decide(facts) is Action.TERMINATED
    assert ends == (facts.has_execution and facts.ended and facts.grace_over)


@given(FACTS)
def test_nothing_is_stopped_without_somebody_who_wants_it(facts: Facts) -> None:
    """A person, or a deadline; and of what waits only a person."""
    if decide(facts) is Action.REQUEST_STOP:
        assert facts.has_execution
        assert not facts.ended
        assert facts.stop_asked or (facts.past_deadline and facts.engine_status != WAITING)


@given(FACTS)
def test_a_muted_flag_is_not_raised(facts: Facts) -> None:
    """Whatever the reason."""
    assert not (facts.muted and decide(facts) is Action.LEAVE_FLAGGED)
