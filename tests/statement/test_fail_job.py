"""fail_job: the holder failed, and what it knows of the effect decides what comes next."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    EFFECTS,
    FORCED,
    HANDLE,
    OTHER,
    Held,
    Shop,
    claimed,
    completed,
    decide,
    expire,
    in_review,
    mark,
    marked,
    overtake,
    spend,
    sweep,
    swept,
)
from tests.support.races import race

BACKOFF = timedelta(seconds=60)


def fail(shop: Shop, job: Held, effect_state: str = "not_started", **more: Any) -> Any:
    """Report a failure."""
    given = {"error": "boom", "effect_state": effect_state}
    return shop.call("fail_job", **(job.mine | given | more))


# -- what comes next -----------------------------------------------------------------------------


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize(
    ("make", "effect_state", "next_"),
    [
        (claimed, "not_started", "queued"),
        (claimed, "rejected", "queued"),
        (claimed, "unknown", "left_for_sweeper"),
        (marked, "not_started", "left_for_sweeper"),
        (marked, "rejected", "queued"),
        (marked, "unknown", "left_for_sweeper"),
    ],
)
def test_only_what_was_surely_not_sent_is_tried_again(
    shop: Shop, effect: str, make: Any, effect_state: str, next_: str
) -> None:
    """A mark that was not taken back leaves the question to the sweeper."""
    job = make(shop, effect)
    won = fail(shop, job, effect_state, error_node="HTTP Request")
    row = shop.job(job)
    assert (won.outcome, won.next) == ("won", next_)
    assert (row["last_error"], row["error_node"]) == ("boom", "HTTP Request")
    if next_ == "queued":
        assert (row["state"], row["owner_token"], row["marker_at"], row["first_marked_at"]) == (
            "queued",
            None,
            None,
            None,
        )
        assert row["run_after"] == won.run_after
        assert BACKOFF - timedelta(seconds=1) < row["run_after"] - row["updated_at"] <= BACKOFF
    else:
        assert (row["state"], row["owner_token"], won.run_after) == ("claimed", job.token, None)
        assert (row["marker_at"] is not None) == (make is marked)
        assert [taken.job_id for taken in sweep(shop)] == [job.job_id]


def test_each_attempt_waits_longer(shop: Shop) -> None:
    """The pause grows with the attempts made."""
    job = claimed(shop)
    shop.owner.execute("UPDATE jobs SET attempts = 2")
    won = fail(shop, job)
    assert won.run_after - shop.job(job)["updated_at"] > BACKOFF * 1.9


@pytest.mark.parametrize("make", [claimed, marked])
def test_what_a_later_job_of_its_lane_overtook_is_left_for_the_sweeper(
    shop: Shop, make: Any
) -> None:
    """Which asks a person: queued, it would be sent after what is newer."""
    job = make(shop)
    overtake(shop, job)
    won = fail(shop, job, "rejected")
    row = shop.job(job)
    assert (won.next, row["state"], row["first_marked_at"]) == ("left_for_sweeper", "claimed", None)
    (taken,) = sweep(shop)
    assert decide(shop, taken, "requeue").outcome == "rule_failed"
    assert decide(shop, taken, "review").state == "review"


@pytest.mark.parametrize(
    ("make", "effect_state", "next_"),
    [
        (claimed, "not_started", "dead"),
        (marked, "rejected", "dead"),
        (marked, "not_started", "left_for_sweeper"),
        (marked, "unknown", "left_for_sweeper"),
    ],
)
def test_without_attempts_left(shop: Shop, make: Any, effect_state: str, next_: str) -> None:
    """A job that may have sent is never buried: the sweeper asks first."""
    job = make(shop)
    spend(shop, job)
    won = fail(shop, job, effect_state)
    letters = shop.rows("failed_jobs")
    assert won.next == next_
    if next_ == "dead":
        assert shop.job(job)["state"] == "dead"
        assert [(row["job_id"], row["state"], row["error_message"]) for row in letters] == [
            (job.job_id, "open", "boom")
        ]
        assert shop.claim().outcome == "dead_lettered"
    else:
        assert (shop.job(job)["state"], letters) == ("claimed", [])


def test_each_resend_of_a_person_allows_one_more_attempt(shop: Shop) -> None:
    """It is added to those that were left."""
    job = in_review(shop)
    (conflict,) = shop.rows("conflicts")
    named = {"conflict_id": conflict["id"], "lock_version": conflict["lock_version"]}
    person = {"actor": "ann", "reason": "not there", "risk_acknowledged": True}
    assert shop.run("decide_conflict", **named, **person, decision="resend").outcome == "won"
    ends = []
    while shop.job(job)["state"] == "queued":
        shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp()")
        ends.append(fail(shop, claimed(shop, BLIND)).next)
    assert ends == ["queued", "queued", "dead"]
    assert shop.job(job)["attempts"] == 4


def test_a_rejection_takes_back_only_its_own_mark(shop: Shop) -> None:
    """An earlier send of the same job is still open."""
    job = marked(shop)
    first = shop.job(job)["first_marked_at"]
    expire(shop, job)
    won = shop.claim()
    again = Held(won.job_id, won.idem_key, won.owner_token, won.version, job.event)
    mark(shop, again)
    spend(shop, again)
    assert fail(shop, again, "rejected").next == "left_for_sweeper"
    row = shop.job(job)
    assert (row["marker_at"], row["first_marked_at"]) == (None, first)


def test_rejected_marks_leave_an_advisory_job_clean_every_time(sql_shop: Shop) -> None:
    """A first send that was refused is no send: the job may be marked again."""
    for n in range(60):
        job = marked(sql_shop, BLIND, n)
        assert fail(sql_shop, job, "rejected").next == "queued"
    assert {row["first_marked_at"] for row in sql_shop.rows("jobs")} == {None}


@pytest.mark.parametrize("effect_state", ["rejected", "not_started"])
def test_a_receipt_outweighs_what_the_worker_says(shop: Shop, effect_state: str) -> None:
    """The provider confirmed the send: trying again would send twice, whoever says otherwise."""
    job = marked(shop, HANDLE)
    shop.run("record_receipt", **job.mine, provider_ref="mail-1")
    assert fail(shop, job, effect_state).next == "left_for_sweeper"
    (taken,) = sweep(shop)
    assert (taken.positive, decide(shop, taken, "done").state) == (True, "done")


def test_a_receipt_of_an_earlier_claim_does_not_outweigh_a_rejection(shop: Shop) -> None:
    """A person sent it again on purpose, and this time it was refused."""
    job = marked(shop, BLIND)
    shop.run("record_receipt", **job.mine, provider_ref="r-1")
    shop.owner.execute(
        "UPDATE jobs SET receipt_at = receipt_at - interval '1 day', first_marked_at = NULL,"
        " marker_at = NULL"
    )
    mark(shop, job)
    assert fail(shop, job, "rejected").next == "queued"


def test_a_replayed_stored_error_is_for_a_person(shop: Shop) -> None:
    """The provider will answer the same key the same way for ever."""
    job = marked(shop)
    assert fail(shop, job, "rejected", replayed=True, http_status=500).next == "left_for_sweeper"
    (evidence,) = shop.rows("evidence")
    assert (evidence["kind"], evidence["send_no"]) == ("error_replayed", 1)
    assert evidence["body"] == {"http_status": 500, "error": "boom"}
    (taken,) = sweep(shop)
    assert taken.error_replayed
    assert decide(shop, taken, "requeue").detail["why"] == "error_was_replayed"
    assert decide(shop, taken, "review").state == "review"


# -- the repeat ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect_state", "next_"),
    [("not_started", "queued"), ("unknown", "left_for_sweeper")],
)
def test_the_same_failure_again_hears_the_first_answer(
    shop: Shop, effect_state: str, next_: str
) -> None:
    """Also when the next worker has the job by now."""
    job = claimed(shop)
    fail(shop, job, effect_state)
    before = shop.job(job)
    again = fail(shop, job, effect_state)
    assert (again.outcome, again.next, shop.job(job)) == ("replay", next_, before)
    if next_ == "queued":
        shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp()")
        assert shop.claim().outcome == "won"
        assert fail(shop, job, effect_state).outcome == "replay"
        assert fail(shop, job, "rejected").outcome == "held_by_other"


def test_a_dead_job_says_so_again(shop: Shop) -> None:
    """One letter, however often it is said."""
    job = claimed(shop)
    spend(shop, job)
    assert [fail(shop, job).next for _ in range(2)] == ["dead", "dead"]
    assert len(shop.rows("failed_jobs")) == 1


# -- the losing side -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [claimed, completed, in_review])
def test_who_does_not_hold_the_job_fails_nothing(shop: Shop, make: Any) -> None:
    """In whatever state it is."""
    job = make(shop)
    before = shop.job(job)
    lost = fail(shop, job, owner_token=uuid4())
    assert (lost.outcome, lost.next, shop.job(job)) == ("held_by_other", None, before)


def test_swept_gone_or_foreign(shop: Shop) -> None:
    """The sweeper's decision stands; an unknown job is a lost claim."""
    job = claimed(shop)
    swept(shop, job)
    assert fail(shop, job).outcome == "held_by_other"
    assert fail(shop, job, job_id="gone").outcome == "lost_claim"
    foreign: dict[str, Any] = {"workflow": OTHER, "owner_token": uuid4()}
    assert fail(shop, job, **foreign).outcome == "wrong_role"


@pytest.mark.parametrize(
    "change", [{"effect_state": "maybe"}, {"error": ""}, {"http_status": 99}, {"replayed": "yes"}]
)
def test_unclear_reports_are_invalid(shop: Shop, change: dict[str, Any]) -> None:
    """What is known of the effect is said in one of three words."""
    job = claimed(shop)
    refused = fail(shop, job, **change)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(change)))
    assert shop.job(job)["state"] == "claimed"


def test_racing_failures_count_once(racing_shop: Shop) -> None:
    """Three say rejected, three say unknown: a rejection ends the hold, once."""
    shop, job = racing_shop, marked(racing_shop, FORCED)
    said = ["rejected", "unknown"] * 3
    answers = race(
        *[
            lambda word=word: shop.run("fail_job", **job.mine, error="x", effect_state=word)
            for word in said
        ]
    )
    firsts = {(word, a.next) for word, a in zip(said, answers, strict=True) if a.outcome == "won"}
    # An unknown keeps the hold until the sweep, so a rejection may still follow it.
    assert ("rejected", "queued") in firsts
    assert firsts <= {("rejected", "queued"), ("unknown", "left_for_sweeper")}
    assert sorted({a.outcome for a in answers} - {"held_by_other"}) == ["replay", "won"]
    assert shop.job(job)["attempts"] == 1
