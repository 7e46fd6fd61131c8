"""enqueue_job: an event's effect enters the queue once, and the answer says whether it was new."""

from datetime import UTC, datetime

import pytest

from tests.support.factories import (
    BLIND,
    OTHER,
    PAYLOAD,
    Shop,
    buried,
    claimed,
    completed,
    enqueued,
    in_review,
    make_effect,
    order,
    swept,
)
from tests.support.races import race_rounds


def test_a_new_event_is_inserted_and_waits(shop: Shop) -> None:
    """A worker can run from the row alone."""
    answer = shop.call("enqueue_job", **order(event=5), execution_id="9", workflow_version="3")
    assert (answer.outcome, answer.idem_key, answer.state) == ("inserted", "charge:5", "queued")
    job = shop.job(answer.job_id)
    assert (job["payload"], job["event"], job["workflow_version"]) == (PAYLOAD, {"id": 5}, "3")
    assert (job["attempts"], job["owner_token"], job["lease_expires_at"]) == (0, None, None)
    assert job["ready_at"] == job["run_after"] == answer.run_after
    assert shop.row("idem", "charge:5")["job_id"] == answer.job_id


def test_a_second_time_is_matched(shop: Shop) -> None:
    """Also when the job is at work already; nothing of it changes, but that its row says so."""
    job_id = enqueued(shop)
    before = shop.job(job_id)
    again = shop.call("enqueue_job", **order(), run_after="2199-01-01T00:00:00Z")
    assert (again.outcome, again.job_id, again.state) == ("matched", job_id, "queued")
    after = before | {"inserted_or_matched": "matched"}
    assert (before["inserted_or_matched"], shop.job(job_id)) == ("inserted", after)
    assert again.run_after == before["run_after"]
    job = claimed(shop, event=2)
    for rows in (1, 0):
        answer = shop.call("enqueue_job", **order(event=2))
        assert (answer.outcome, answer.job_id, answer.state) == ("matched", job.job_id, "claimed")
        assert shop.rows("audit_events", outcome="matched")[-1]["row_count"] == rows
    assert shop.job(job)["inserted_or_matched"] == "matched"


def test_who_holds_a_matched_job_does_not_lose_it(shop: Shop) -> None:
    """The sweeper decides at the version it has taken; a match in between moves none."""
    job = claimed(shop)
    taken = swept(shop, job)
    assert shop.call("enqueue_job", **order()).outcome == "matched"
    given = {"job_id": taken.job_id, "owner_token": taken.owner_token, "decision": "requeue"}
    won = shop.call("decide_job", **given, expected_version=taken.version, reason="safe")
    assert (won.outcome, won.state) == ("won", "queued")


def test_a_time_to_run_is_kept(shop: Shop) -> None:
    """A time in the past means now."""
    later = shop.call("enqueue_job", **order(), run_after="2199-01-01T01:00:00+01:00")
    assert later.run_after == datetime(2199, 1, 1, tzinfo=UTC)
    now = shop.call("enqueue_job", **order(event=2), run_after="2001-01-01T00:00:00Z")
    assert now.run_after == shop.job(now.job_id)["created_at"]


def test_a_done_event_replays(shop: Shop) -> None:
    """With the stored result, and without a new job."""
    job = completed(shop)
    again = shop.call("enqueue_job", **order())
    assert (again.outcome, again.job_id, again.result["ok"], again.http_status) == (
        "replay",
        job.job_id,
        1,
        200,
    )
    assert len(shop.rows("jobs")) == 1


def test_what_waits_for_a_person_is_not_queued(shop: Shop) -> None:
    """Review and dead letters are named as what they are."""
    in_review(shop)
    assert shop.call("enqueue_job", **order(BLIND)).outcome == "in_review"
    job = buried(shop)
    dead = shop.call("enqueue_job", **order())
    assert (dead.outcome, dead.job_id, dead.state) == ("dead_lettered", job.job_id, "dead")


def test_versions_and_payloads_are_judged_as_in_a_claim(shop: Shop) -> None:
    """One judgement stands behind both."""
    completed(shop)
    assert shop.call("enqueue_job", **order(payload=[])).outcome == "payload_mismatch"
    moved = shop.call("enqueue_job", **order(effect_version=2))
    assert (moved.outcome, moved.effect_version) == ("inserted", 2)
    assert shop.call("enqueue_job", **order()).outcome == "superseded"
    waits = shop.call("enqueue_job", **order(effect_version=3))
    assert (waits.outcome, waits.detail["reason"]) == ("held_by_other", "older_version_in_flight")
    make_effect(shop.owner, "credit", kind="add")
    completed(shop, "credit")
    again = shop.call("enqueue_job", **order("credit", effect_version=2))
    assert (again.outcome, again.result["ok"]) == ("already_applied", 1)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({"event": {}}, "missing_key"),
        ({"event": {"id": "9"}, "execution_id": "9"}, "key_is_run_identity"),
        ({"event": {"id": "x" * 300}}, "invalid"),
        ({"effect": "nope"}, "unknown_effect"),
        ({"workflow": OTHER}, "wrong_role"),
        ({"run_after": "tomorrow"}, "invalid"),
        ({"run_after": "2026-13-01T00:00:00Z"}, "invalid"),
        ({"lease_seconds": 4}, "invalid"),
    ],
)
def test_what_cannot_be_entered_is_refused(
    shop: Shop, change: dict[str, object], outcome: str
) -> None:
    """No job and no key are left behind; only the item without a key is parked."""
    assert shop.call("enqueue_job", **(order() | change)).outcome == outcome
    assert (shop.rows("jobs"), shop.rows("idem")) == ([], [])
    assert len(shop.rows("conflicts")) == (outcome == "missing_key")


def test_a_key_whose_job_is_gone_goes_to_a_person(shop: Shop) -> None:
    """As in a claim: never entered again in silence."""
    job_id = enqueued(shop)
    shop.owner.execute("DELETE FROM jobs WHERE id = %s", [job_id])
    assert shop.call("enqueue_job", **order()).outcome == "lost_claim"
    assert shop.call("enqueue_job", **order()).outcome == "in_review"


def test_racing_entries_make_one_job(racing_shop: Shop) -> None:
    """Four enqueue and four claim the same event: one row, and at most one holder."""
    shop = racing_shop

    def enter(n: int) -> str:
        return str(shop.run("enqueue_job", **order(event=n)).outcome)

    def claim(n: int) -> str:
        return str(shop.run("claim_job", **order(event=n)).outcome)

    for outcomes in race_rounds(15, *[enter] * 4, *[claim] * 4):
        assert outcomes[:4].count("inserted") <= 1
        assert outcomes[:4].count("matched") >= 3
        assert sorted(outcomes[4:]) == ["held_by_other"] * 3 + ["won"]
    assert len(shop.rows("jobs")) == len(shop.rows("idem")) == 15
    assert len(shop.audit.new()) == 15 * 8
