"""decide_failed_job: a person ends a dead letter, once, and a marked send is never repeated."""

from typing import Any

import pytest

from tests.support.factories import BLIND, FORCED, Shop, claimed, completed, in_review
from tests.support.letters import exhaust, of_a_job, of_an_event, of_nothing, reread
from tests.support.races import race


def _named(letter: dict[str, Any], decision: str, **more: Any) -> dict[str, Any]:
    return {
        "failed_job_id": letter["id"],
        "lock_version": letter["lock_version"],
        "decision": decision,
        "reason": "looked into it",
        "actor": "anna",
    } | more


def _decide(shop: Shop, letter: dict[str, Any], decision: str, **more: Any) -> Any:
    return shop.call("decide_failed_job", **_named(letter, decision, **more))


# -- the winning side ----------------------------------------------------------------------------


@pytest.mark.parametrize("used_up", [False, True])
def test_a_person_has_it_tried_again(shop: Shop, used_up: bool) -> None:
    """Also once the schedule gave up; exactly one more attempt."""
    letter = of_a_job(shop)
    if used_up:
        letter = exhaust(shop, letter)
    won = _decide(shop, letter, "resend")
    assert (won.outcome, won.state, won.job_id) == ("won", "retrying", letter["job_id"])
    job = shop.job(letter["job_id"])
    assert (job["state"], job["resends"]) == ("queued", 1)
    assert reread(shop, letter)["waiting_since"] is None


def test_a_person_has_an_event_enter_again(shop: Shop) -> None:
    """The letter knows no job; its event makes one."""
    letter = of_an_event(shop)
    won = shop.run("decide_failed_job", **_named(letter, "resend"))
    (job,) = shop.rows("jobs")
    assert (won.outcome, won.job_id, job["state"]) == ("won", job["id"], "queued")


def test_a_person_gives_it_up(shop: Shop) -> None:
    """Letter, job and key end together, and say who ended them."""
    letter = of_a_job(shop)
    won = _decide(shop, letter, "abandon")
    assert (won.outcome, won.state) == ("won", "abandoned")
    key = shop.row("idem", letter["item_key"])
    assert shop.job(letter["job_id"])["state"] == "abandoned"
    assert (key["status"], key["outcome"], key["result"]["decided_by"]) == (
        "done",
        "abandoned",
        "anna",
    )
    after = reread(shop, letter)
    assert (after["resolved_by"], after["reason"]) == ("anna", "looked into it")
    assert shop.claim().outcome == "replay"


def test_giving_up_a_letter_leaves_a_job_that_works(shop: Shop) -> None:
    """Only a dead job ends with its letter."""
    job = claimed(shop)
    posted = shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="x")
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert _decide(shop, letter, "abandon").outcome == "won"
    assert shop.job(job)["state"] == "claimed"


def test_a_person_says_it_was_seen(shop: Shop) -> None:
    """It leaves the queue and stays open."""
    letter = of_nothing(shop)
    won = _decide(shop, letter, "acknowledge")
    after = reread(shop, letter)
    assert (won.outcome, won.state, after["acked_by"]) == ("won", "open", "anna")
    assert after["waiting_since"] is None


def test_a_new_death_needs_a_new_look(shop: Shop) -> None:
    """What was seen before it died again was not seen since."""
    letter = of_a_job(shop)
    _decide(shop, letter, "acknowledge")
    shop.run("retry_failed_job", failed_job_id=letter["id"])
    shop.owner.execute("UPDATE jobs SET attempts = 99")
    won = shop.run("claim_next_job")
    shop.run(
        "fail_job",
        job_id=won.job_id,
        owner_token=won.owner_token,
        error="again",
        effect_state="not_started",
    )
    assert reread(shop, letter)["acked_at"] is None


# -- the losing side -----------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["resend", "acknowledge", "abandon"])
def test_the_second_hears_what_the_first_decided(shop: Shop, decision: str) -> None:
    """A repeat, or another person: nothing happens twice."""
    letter = of_a_job(shop)
    assert _decide(shop, letter, decision).outcome == "won"
    before = (shop.rows("jobs"), shop.rows("failed_jobs"))
    again = _decide(shop, letter, decision, actor="bert")
    assert (again.outcome, again.detail["decision"]) == ("already_decided", decision)
    assert (shop.rows("jobs"), shop.rows("failed_jobs")) == before


@pytest.mark.parametrize("decision", ["resend", "acknowledge", "abandon"])
def test_every_decision_has_a_reason(shop: Shop, decision: str) -> None:
    """Nothing moves without one."""
    letter = of_a_job(shop)
    for reason in (None, "  \n"):
        refused = _decide(shop, letter, decision, reason=reason)
        assert (refused.outcome, refused.detail["needs"]) == ("rule_failed", "reason")
    assert reread(shop, letter) == letter


def test_a_letter_of_nothing_cannot_be_sent(shop: Shop) -> None:
    """It needs a job, or an effect with its event."""
    letter = of_nothing(shop)
    lost = _decide(shop, letter, "resend")
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "no_job")
    assert reread(shop, letter)["state"] == "open"


@pytest.mark.parametrize("effect", [FORCED, BLIND])
def test_a_marked_send_is_asked_about_instead_of_repeated(shop: Shop, effect: str) -> None:
    """A person's resend is no exception: the question about the send comes first."""
    letter = of_a_job(shop, effect)
    shop.owner.execute(
        "UPDATE jobs SET first_marked_at = clock_timestamp() - interval '2 days', send_no = 1"
    )
    answer = _decide(shop, letter, "resend")
    assert (answer.outcome, answer.state) == ("in_review", "resolved")
    assert shop.job(letter["job_id"])["state"] == "review"
    assert len(shop.rows("conflicts", kind="unknown_send", state="open")) == 1


@pytest.mark.parametrize(
    ("make", "outcome"), [(completed, "already_decided"), (in_review, "in_review")]
)
def test_a_letter_of_a_job_that_is_over_ends(shop: Shop, make: Any, outcome: str) -> None:
    """Whoever decides to resend hears where the job went."""
    job = make(shop)
    posted = shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="x")
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert _decide(shop, letter, "resend").outcome == outcome
    assert reread(shop, letter)["state"] == "resolved"


def test_an_unknown_letter(shop: Shop) -> None:
    """There is no such thing."""
    assert _decide(shop, {"id": 7, "lock_version": 1}, "abandon").outcome == "invalid"


# -- races ---------------------------------------------------------------------------------------


def test_two_people_decide_once(racing_shop: Shop) -> None:
    """The other hears who did."""
    shop = racing_shop
    letter = of_a_job(shop)

    def decide(who: str, decision: str) -> Any:
        return shop.run("decide_failed_job", **_named(letter, decision, actor=who))

    answers = race(
        lambda: decide("anna", "resend"),
        lambda: decide("bert", "abandon"),
        lambda: decide("cleo", "acknowledge"),
    )
    assert sorted(a.outcome for a in answers) == ["already_decided", "already_decided", "won"]
