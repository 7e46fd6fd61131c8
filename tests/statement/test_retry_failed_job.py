"""retry_failed_job: a dead letter is tried again while that is safe, and counted each time."""

from datetime import datetime
from typing import Any

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Held,
    Shop,
    buried,
    completed,
    decide,
    enqueued,
    expire,
    in_review,
    marked,
    sweep,
)
from tests.support.letters import letter_of, of_a_job, of_an_event, of_nothing, reread
from tests.support.races import race
from tests.support.retention import grow_old


def _retry(shop: Shop, letter: dict[str, Any]) -> Any:
    return shop.call("retry_failed_job", failed_job_id=letter["id"])


def _die_again(shop: Shop, job_id: str) -> None:
    won = shop.run("claim_next_job")
    assert (won.outcome, won.job_id) == ("won", job_id)
    mine = {"job_id": job_id, "owner_token": won.owner_token}
    died = shop.run("fail_job", **mine, error="again", effect_state="not_started")
    assert died.next == "dead", died


# -- the winning side ----------------------------------------------------------------------------


@pytest.mark.parametrize("effect", [FORCED, HANDLE, BLIND])
def test_an_unmarked_dead_job_gets_one_more_attempt(shop: Shop, effect: str) -> None:
    """Nothing was sent, so nothing can be sent twice, whatever the provider."""
    letter = of_a_job(shop, effect)
    grow_old(shop, 1)
    before = shop.row("idem", letter["item_key"])
    won = _retry(shop, letter)
    assert (won.outcome, won.job_id, won.retry_count) == ("won", letter["job_id"], 1)
    job, after = shop.job(letter["job_id"]), reread(shop, letter)
    assert (job["state"], job["resends"]) == ("queued", 1)
    assert (after["state"], after["next_retry_at"], after["waiting_since"]) == (
        "retrying",
        None,
        None,
    )
    assert after["last_retry_at"] > letter["failed_at"]
    assert shop.row("idem", letter["item_key"])["retain_until"] > before["retain_until"]


def test_it_is_tried_as_often_as_the_policy_says_and_then_waits_for_a_person(shop: Shop) -> None:
    """Dying again opens the same row, due later; the last death uses it up."""
    letter = of_a_job(shop)
    for count in (1, 2, 3):
        assert letter["next_retry_at"] is not None
        assert letter["waiting_since"] is None
        assert _retry(shop, letter).retry_count == count
        shop.owner.execute("UPDATE jobs SET attempts = resends + 2, run_after = clock_timestamp()")
        _die_again(shop, letter["job_id"])
        letter = reread(shop, letter)
        assert letter["retry_count"] == count
        assert letter["state"] == ("exhausted" if count == 3 else "open")
    assert (letter["next_retry_at"], letter["waiting_since"] is None) == (None, False)
    lost = _retry(shop, letter)
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "exhausted")
    assert len(shop.rows("failed_jobs")) == 1


def test_a_job_that_lands_after_the_retry_ends_its_letter(shop: Shop) -> None:
    """In the same transaction, with the operation as the reason."""
    letter = of_a_job(shop)
    _retry(shop, letter)
    won = shop.run("claim_next_job")
    shop.run("complete_job", job_id=won.job_id, owner_token=won.owner_token, result={})
    after = reread(shop, letter)
    assert (after["state"], after["reason"]) == ("resolved", "complete_job")


def test_a_retry_whose_send_is_uncertain_ends_its_letter(shop: Shop) -> None:
    """From there on it is a person's question, not a letter."""
    letter = of_a_job(shop, BLIND)
    _retry(shop, letter)
    won = shop.run("claim_next_job")
    mine = {"job_id": won.job_id, "owner_token": won.owner_token}
    shop.run("mark_sending", **mine, idem_key=won.idem_key)
    expire(shop, won.job_id)
    (taken,) = sweep(shop)
    assert decide(shop, taken, "review").outcome == "won"
    after = reread(shop, letter)
    assert (after["state"], after["reason"]) == ("resolved", "decide_job")


def test_a_rejected_send_of_a_retry_does_not_use_the_letter_up(shop: Shop) -> None:
    """While the job was marked the letter counted as used up; the provider's no undid the mark."""
    letter = of_a_job(shop, HANDLE)
    _retry(shop, letter)
    shop.owner.execute("UPDATE jobs SET attempts = resends + 2")
    won = shop.run("claim_next_job")
    mine = {"job_id": won.job_id, "owner_token": won.owner_token}
    shop.run("mark_sending", **mine, idem_key=won.idem_key)
    assert reread(shop, letter)["retry_count"] >= 3
    died = shop.run("fail_job", **mine, error="550 no", effect_state="rejected")
    assert died.next == "dead"
    after = reread(shop, letter)
    assert (after["state"], after["next_retry_at"] is None) == ("open", False)


# -- the losing side -----------------------------------------------------------------------------


def _left(shop: Shop, job: Held) -> dict[str, Any]:
    posted = shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="x")
    return shop.row("failed_jobs", posted.failed_job_id)


@pytest.mark.parametrize("state", ["queued", "claimed", "sweeping"])
def test_a_job_that_is_not_dead_is_left_alone(shop: Shop, state: str) -> None:
    """The letter is due again after whoever holds the job."""
    if state == "queued":
        enqueued(shop)
        (row,) = shop.rows("jobs")
        letter = _left(shop, Held(row["id"], row["idem_key"], row["id"], 1, {}))
    else:
        job = marked(shop)
        letter = _left(shop, job)
        if state == "sweeping":
            expire(shop, job)
            shop.door.call_many("take_expired_jobs", actor="s")
    (before,) = shop.rows("jobs")
    lost = _retry(shop, letter)
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "not_dead")
    after = reread(shop, letter)
    held_until: datetime = before["lease_expires_at"] or before["ready_at"]
    assert after["next_retry_at"] > held_until
    assert (after["state"], after["retry_count"], after["lock_version"]) == ("open", 0, 1)
    assert shop.rows("jobs") == [before]


@pytest.mark.parametrize("effect", [FORCED, HANDLE, BLIND])
def test_a_marked_dead_job_is_never_sent_again_but_asked_about(shop: Shop, effect: str) -> None:
    """A bug left a dead job that was marked: past the key's lifetime nobody knows any more."""
    letter = of_a_job(shop, effect)
    shop.owner.execute(
        "UPDATE jobs SET first_marked_at = clock_timestamp() - interval '2 days', send_no = 1"
    )
    answer = _retry(shop, letter)
    (conflict,) = shop.rows("conflicts", kind="unknown_send")
    assert (answer.outcome, answer.detail["conflict_id"]) == ("in_review", conflict["id"])
    assert (shop.job(letter["job_id"])["state"], conflict["state"]) == ("review", "open")
    after = reread(shop, letter)
    assert (after["state"], after["reason"]) == ("resolved", "moved to review")


def test_what_a_later_job_of_its_lane_overtook_is_asked_about(shop: Shop) -> None:
    """Its data is older than what was sent since: nobody sends it unasked."""
    first = enqueued(shop, event=1, serial_key="order-7")
    enqueued(shop, event=2, serial_key="order-7")
    shop.owner.execute("UPDATE jobs SET attempts = 99 WHERE id = %s", [first])
    _die_again(shop, first)
    letter = letter_of(shop, first)
    won = shop.run("claim_next_job")
    mine = {"job_id": won.job_id, "owner_token": won.owner_token}
    assert shop.run("complete_job", **mine, result={}).outcome == "won"
    answer = _retry(shop, letter)
    (conflict,) = shop.rows("conflicts", kind="unknown_send")
    assert (answer.outcome, answer.detail) == (
        "in_review",
        {"conflict_id": conflict["id"], "superseded_by": won.job_id},
    )
    assert conflict["detail"] == {"reason": "superseded_by", "superseded_by": won.job_id}
    assert (shop.job(first)["state"], reread(shop, letter)["state"]) == ("review", "resolved")
    assert shop.run("claim_next_job").outcome == "empty"


@pytest.mark.parametrize("later", ["unfinished", "of another lane", "earlier"])
def test_only_a_later_job_that_is_done_overtakes(sql_shop: Shop, later: str) -> None:
    """Not one that waits, nor one of another lane, nor the one before."""
    shop = sql_shop
    if later == "earlier":
        completed(shop, event=1, serial_key="order-7")
    letter = of_a_job(shop, event=2)
    shop.owner.execute("UPDATE jobs SET serial_key = 'order-7' WHERE state = 'dead'")
    if later == "unfinished":
        enqueued(shop, event=3, serial_key="order-7")
    if later == "of another lane":
        completed(shop, event=3, serial_key="order-8")
    assert _retry(shop, letter).outcome == "won"


def test_a_letter_of_a_finished_job_is_over(shop: Shop) -> None:
    """Done by somebody, or given up by a person."""
    for job, outcome in (
        (completed(shop, event=1), "already_decided"),
        (in_review(shop), "in_review"),
    ):
        letter = _left(shop, job)
        assert _retry(shop, letter).outcome == outcome
        assert reread(shop, letter)["state"] == "resolved"
        assert _retry(shop, letter).outcome == "already_decided"


def test_a_letter_of_nothing_is_a_persons(shop: Shop) -> None:
    """Neither a job nor an event: there is nothing to try."""
    letter = of_nothing(shop)
    lost = _retry(shop, letter)
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "no_job")
    assert reread(shop, letter)["state"] == "open"
    assert shop.call("retry_failed_job", failed_job_id=999).outcome == "invalid"


def test_an_acknowledged_letter_is_still_retried(shop: Shop) -> None:
    """Somebody saw it; that is not a decision to stop."""
    letter = of_a_job(shop)
    shop.run(
        "decide_failed_job",
        failed_job_id=letter["id"],
        lock_version=letter["lock_version"],
        decision="acknowledge",
        reason="seen",
    )
    assert _retry(shop, letter).outcome == "won"


# -- races ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [of_a_job, of_an_event])
def test_racing_retries_try_once(racing_shop: Shop, make: Any) -> None:
    """The others hear that the job is in the queue."""
    shop = racing_shop
    letter = make(shop)

    def retry() -> Any:
        return shop.run("retry_failed_job", failed_job_id=letter["id"])

    answers = race(*[retry] * 6)
    assert sorted(a.outcome for a in answers) == [*["rule_failed"] * 5, "won"]
    assert {a.detail["why"] for a in answers if a.outcome == "rule_failed"} == {"not_dead"}
    (job,) = shop.rows("jobs")
    after = reread(shop, letter)
    assert (job["state"], after["state"], after["retry_count"]) == ("queued", "retrying", 1)


def test_a_retry_and_a_persons_decision_exclude_each_other(racing_shop: Shop) -> None:
    """Either it runs once more, or it is given up."""
    shop = racing_shop
    for event in range(8):
        letter = letter_of(shop, buried(shop, event=event))

        def decide(letter: dict[str, Any] = letter) -> Any:
            return shop.run(
                "decide_failed_job",
                failed_job_id=letter["id"],
                lock_version=letter["lock_version"],
                decision="abandon",
                reason="over",
            )

        def retry(letter: dict[str, Any] = letter) -> Any:
            return shop.run("retry_failed_job", failed_job_id=letter["id"])

        decided, retried = race(decide, retry)
        job, after = shop.job(letter["job_id"]), reread(shop, letter)
        if decided.outcome == "won":
            assert (retried.outcome, job["state"]) == ("already_decided", "abandoned")
        else:
            assert (decided.outcome, retried.outcome) == ("already_decided", "won")
            assert (job["state"], after["state"]) == ("queued", "retrying")
