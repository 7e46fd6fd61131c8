"""The sources' sweeps see no live job, and what they claimed is never sent again unasked."""

from typing import Any

import pytest

from tests.support import sources
from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    SWEEPER,
    Held,
    Shop,
    claimed,
    decide,
    enqueued,
    expire,
    marked,
    sweep,
)
from tests.support.letters import letter_of
from tests.support.sources import Articles, Told, offer, resend, review

KEY = "evt_1"


def _listed(articles: Articles) -> tuple[list[str], list[str]]:
    first, second = (articles.run(s) for s in (sources.SWEEP, sources.SWEEP_TEN))
    return [row["id"] for row in first], [row["id"] for row in second]


def test_no_live_job_is_listed_after_heartbeats(shop: Shop, articles: Articles) -> None:
    """However long ago it was claimed: a heartbeat moves the claim with the lease."""
    short = claimed(shop, FORCED, 1, lease_seconds=60)
    usual, slow = claimed(shop, HANDLE, 2), marked(shop, BLIND, 3)
    articles.won(KEY)
    articles.add("j1")
    articles.run(sources.CLAIM_JOB, "j1")
    shop.owner.execute(
        "UPDATE jobs SET claimed_at = claimed_at - d, lease_expires_at = lease_expires_at - d"
        " FROM (SELECT id, make_interval(secs => lease_seconds - 5) FROM jobs) ago (job, d)"
        " WHERE id = ago.job AND effect <> '(unknown)'"
    )
    assert _listed(articles) == ([], [])
    for job in (short, usual, slow):
        assert shop.run("heartbeat_job", **job.mine).outcome == "won"
    assert _listed(articles) == ([], [])
    swept = shop.door.call_many("take_expired_jobs", actor=SWEEPER)
    assert [row.outcome for row in swept] == ["empty"]


def test_what_is_expired_is_listed_until_the_sweeper_has_it(shop: Shop, articles: Articles) -> None:
    """Both forms, as long as leases are no longer than ten minutes."""
    articles.won(KEY)
    articles.add("j1")
    articles.run(sources.CLAIM_JOB, "j1")
    mine = marked(shop, BLIND)
    ids = [f"idem:{KEY}", "j1", mine.job_id]
    for job_id in ids:
        expire(shop, job_id)
    assert [sorted(found) for found in _listed(articles)] == [sorted(ids)] * 2
    sweep(shop)
    assert _listed(articles) == ([], [])


def test_a_failure_left_for_the_sweeper_is_listed_as_expired(
    shop: Shop, articles: Articles
) -> None:
    """Its worker let go: the claim is over now."""
    job = marked(shop, BLIND)
    shop.run("fail_job", **job.mine, error="timeout", effect_state="unknown")
    assert _listed(articles)[0] == [job.job_id]


# -- never sent again ----------------------------------------------------------------------------


def _raw_key(_shop: Shop, articles: Articles) -> Held:
    assert articles.won("hook:1")
    return Held("idem:hook:1", "hook:1", _shop.job("idem:hook:1")["owner_token"], 1, {"id": 1})


def _raw_job(shop: Shop, articles: Articles) -> Held:
    articles.add("j1", "brand-new.example")
    (row,) = articles.run(sources.CLAIM_JOB, "j1")
    return Held("j1", "jobs:j1", row["owner_token"], row["version"], {})


def _taken_job(shop: Shop, articles: Articles) -> Held:
    job_id = enqueued(shop, BLIND)
    (row,) = articles.run(sources.CLAIM_JOB, job_id)
    return Held(job_id, row["idem_key"], row["owner_token"], row["version"], {"id": 1})


@pytest.mark.parametrize("make", [_raw_key, _raw_job, _taken_job])
def test_an_expired_claim_of_theirs_is_never_sent_again_by_the_system(
    shop: Shop, articles: Articles, make: Any
) -> None:
    """Not by a claim, not from the queue, not by the sweep, not by the dead letters: a person."""
    job = make(shop, articles)
    shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="timed out")
    assert articles.run(sources.RETRY_LIST) == []
    expire(shop, job)
    if make is not _raw_job:
        lost = shop.claim(BLIND)
        assert (lost.outcome, lost.detail["reason"]) == (
            "held_by_other",
            "expired_waits_for_sweeper",
        )
    assert not articles.won(job.idem_key)
    assert articles.run(sources.CLAIM_JOB, job.job_id) == []
    for operation in ("claim_next_job", "claim_next_jobs"):
        answers = shop.door.call_many(operation, workflow="shop", work=["*", "(unknown)"])
        assert [a.outcome for a in answers] == ["empty"]
    letter = letter_of(shop, job)
    lost = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "not_dead")
    (taken,) = sweep(shop)
    for decision in ("requeue", "done"):
        assert decide(shop, taken, decision).outcome == "rule_failed"
    answer = decide(shop, taken, "review")
    assert (answer.outcome, answer.state) == ("won", "review")
    assert len(shop.rows("conflicts", kind="unknown_send", state="open")) == 1
    assert letter_of(shop, job)["state"] == "resolved"
    assert not articles.won(job.idem_key)
    assert articles.run(sources.CLAIM_JOB, job.job_id) == []


def test_a_provider_that_forces_uniqueness_is_sent_the_same_key_again(
    shop: Shop, articles: Articles
) -> None:
    """Safe by construction: the class of the provider decides, here as everywhere."""
    articles.add("j1", "charge-provider")
    (row,) = articles.run(sources.CLAIM_JOB, "j1")
    expire(shop, "j1")
    (taken,) = sweep(shop)
    assert (taken.may_redrive, decide(shop, taken, "requeue").state) == (True, "queued")
    (again,) = articles.run(sources.CLAIM_JOB, "j1")
    assert (again["provider_key"], again["attempts"]) == (row["provider_key"], 2)
    assert again["first_marked_at"] == row["first_marked_at"]


# -- a person offers it again --------------------------------------------------------------------


def test_a_key_offered_again_is_won_by_the_next_insert_never_before_its_time(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """The same key, the same job, one more attempt, marked as it is made."""
    articles.won(KEY)
    review(shop, f"idem:{KEY}")
    resend(shop)
    told()
    assert not articles.won(KEY)
    assert told() == [("sql:idem", "held_by_other", 0)]
    shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp()")
    assert articles.won(KEY)
    assert told() == [("sql:idem", "won", 1)]
    job = shop.job(f"idem:{KEY}")
    assert (job["state"], job["attempts"], job["send_no"], job["resends"]) == ("claimed", 2, 2, 1)
    assert job["marker_at"] == job["first_marked_at"] == job["claimed_at"]
    assert not articles.won(KEY)
    assert articles.changed(sources.END_KEY, KEY) == 1
    assert (len(shop.rows("jobs")), shop.job(f"idem:{KEY}")["state"]) == (1, "done")


def test_a_job_offered_again_is_won_by_the_next_update_never_before_its_time(
    shop: Shop, articles: Articles
) -> None:
    """Withdrawn it is in review again, and not offered."""
    articles.add("j1")
    articles.run(sources.CLAIM_JOB, "j1")
    review(shop, "j1")
    resend(shop)
    assert articles.run(sources.CLAIM_JOB, "j1") == []
    (conflict,) = shop.rows("conflicts")
    shop.run(
        "withdraw_decision",
        conflict_id=conflict["id"],
        lock_version=conflict["lock_version"],
        reason="wait",
    )
    assert shop.job("j1")["state"] == "review"
    resend(shop)
    shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp()")
    (row,) = articles.run(sources.CLAIM_JOB, "j1")
    assert (row["attempts"], row["resends"], row["send_no"]) == (2, 1, 2)


def test_an_expired_offer_that_was_taken_goes_to_a_person_again(
    shop: Shop, articles: Articles
) -> None:
    """Once offered is not for ever."""
    articles.won(KEY)
    offer(shop, f"idem:{KEY}")
    assert articles.won(KEY)
    review(shop, f"idem:{KEY}")
    assert len(shop.rows("conflicts", kind="unknown_send")) == 2
