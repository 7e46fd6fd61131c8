"""decide_job: what each decision does to job, key and question, once and for its holder only."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Shop,
    claimed,
    decide,
    expire,
    look_up,
    marked,
    spend,
    sweep,
    swept,
)
from tests.support.races import race, race_rounds

SOON = {"look_again_at": datetime.now(UTC) + timedelta(hours=12)}


# -- what a decision does ------------------------------------------------------------------------


def test_done_closes_job_and_key_from_the_evidence(shop: Shop) -> None:
    """The stored answer names the provider's id and who decided."""
    job = marked(shop, HANDLE)
    taken = swept(shop, job)
    look_up(shop, taken, "lookup_found", provider_ref="ref-1")
    won = decide(shop, taken, "done")
    row, key = shop.job(job), shop.row("idem", job.idem_key)
    assert (won.outcome, won.state, won.version) == ("won", "done", row["version"])
    assert (row["state"], row["provider_ref"], row["owner_token"]) == ("done", "ref-1", None)
    assert (key["status"], key["outcome"]) == ("done", "success")
    again = shop.claim(HANDLE)
    assert (again.outcome, again.result["provider_ref"], again.result["decided_by"]) == (
        "replay",
        "ref-1",
        "sweeper",
    )


def test_requeue_offers_the_same_key_again(shop: Shop) -> None:
    """The first mark stays, this claim's mark goes, the next settle window starts anew."""
    job = marked(shop)
    taken = swept(shop, job)
    look_up(shop, taken, "lookup_absent")
    look_up(shop, taken, "lookup_error")
    assert decide(shop, taken, "requeue").state == "queued"
    row = shop.job(job)
    assert (row["state"], row["marker_at"], row["first_marked_at"] is not None) == (
        "queued",
        None,
        True,
    )
    assert (row["sweeping_at"], row["settle_until"]) == (None, None)
    assert (row["lookups"], row["lookup_errors"]) == (0, 0)
    again = shop.claim()
    assert (again.outcome, again.provider_key, again.attempts) == ("won", row["provider_key"], 2)


def test_review_asks_a_person_and_says_so(shop: Shop) -> None:
    """Job, key, question and announcement in one transaction, with all a person needs."""
    job = marked(shop, BLIND, execution_id="31")
    won = decide(shop, swept(shop, job), "review", reason="blind provider")
    (conflict,) = shop.rows("conflicts")
    row = shop.job(job)
    assert (won.outcome, won.state, won.conflict_id) == ("won", "review", conflict["id"])
    assert (row["state"], shop.row("idem", job.idem_key)["status"]) == ("review", "review")
    assert (conflict["kind"], conflict["state"], conflict["execution_id"]) == (
        "unknown_send",
        "open",
        "31",
    )
    shown = conflict["current_snapshot"]
    assert (shown["provider_key"], shown["handle"], shown["execution_id"]) == (
        row["provider_key"],
        row["handle"],
        "31",
    )
    assert shown["marker_at"] is not None
    assert [message["topic"] for message in shop.rows("outbox")] == ["review.opened"]


def test_an_unmarked_job_without_attempts_dies(shop: Shop) -> None:
    """Requeue would be one attempt too many; nothing was sent, so nobody need ask."""
    taken = swept(shop, claimed(shop))
    spend(shop, taken)
    assert decide(shop, taken, "requeue", reason="worker died").state == "dead"
    (letter,) = shop.rows("failed_jobs")
    assert (letter["job_id"], letter["error_message"], letter["state"]) == (
        taken.job_id,
        "worker died",
        "open",
    )


def test_wait_holds_the_row_until_the_next_look(shop: Shop) -> None:
    """Nobody takes it before, anybody may after; the settle window is the old one."""
    taken = swept(shop, marked(shop, HANDLE))
    won = decide(shop, taken, "wait", **SOON)
    row = shop.job(taken.job_id)
    assert (won.outcome, won.state, row["state"]) == ("won", "sweeping", "sweeping")
    assert (row["lease_expires_at"], row["settle_until"]) == (
        SOON["look_again_at"],
        taken.settle_until,
    )
    assert sweep(shop) == []
    expire(shop, taken.job_id)
    assert len(sweep(shop)) == 1


@pytest.mark.parametrize("when", [None, datetime(2199, 1, 1, tzinfo=UTC)])
def test_wait_needs_a_time_within_reach(shop: Shop, when: datetime | None) -> None:
    """A row may not be parked for ever."""
    taken = swept(shop, marked(shop, HANDLE))
    refused = decide(shop, taken, "wait", **({"look_again_at": when} if when else {}))
    assert (refused.outcome, refused.detail["why"]) == (
        "rule_failed",
        "wait_needs_look_again_at_within_a_day",
    )


def test_a_lane_is_freed_by_whatever_ends_the_sweep(shop: Shop) -> None:
    """The next job of the customer does not wait for a person."""
    job = marked(shop, BLIND, serial_key="c-1")
    waiting = shop.claim(event=2, serial_key="c-1")
    assert waiting.detail["reason"] == "serial_key_busy"
    assert decide(shop, swept(shop, job), "review").state == "review"
    assert shop.claim(event=2).outcome == "won"


# -- the repeat ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "decision", "state"),
    [(BLIND, "review", "review"), (FORCED, "requeue", "queued"), (HANDLE, "wait", "sweeping")],
)
def test_the_same_decision_again_hears_the_first_answer(
    shop: Shop, effect: str, decision: str, state: str
) -> None:
    """Also after the row went on; nothing is done twice."""
    taken = swept(shop, marked(shop, effect))
    given = {"expected_version": shop.job(taken.job_id)["version"]}
    given |= SOON if decision == "wait" else {}
    first = decide(shop, taken, decision, **given)
    before = shop.job(taken.job_id)
    again = decide(shop, taken, decision, **given)
    assert (first.outcome, again.outcome, again.state) == ("won", "replay", state)
    assert (again.conflict_id, shop.job(taken.job_id)) == (first.conflict_id, before)
    if effect == FORCED:
        assert shop.claim().outcome == "won"
        assert decide(shop, taken, decision, **given).outcome == "replay"
        assert shop.job(taken.job_id)["state"] == "claimed"


# -- the losing side -----------------------------------------------------------------------------


def test_token_and_version_are_both_needed(shop: Shop) -> None:
    """What changed since the read is somebody else's to decide."""
    taken = swept(shop, marked(shop, BLIND))
    version = shop.job(taken.job_id)["version"]
    for change in (
        {"owner_token": uuid4()},
        {"expected_version": version - 1},
        {"expected_version": version + 1},
    ):
        lost = decide(shop, taken, "review", **change)
        assert (lost.outcome, lost.detail["version"]) == ("held_by_other", version), change
    assert decide(shop, taken, "review", job_id="gone").outcome == "lost_claim"
    assert shop.job(taken.job_id)["state"] == "sweeping"


@pytest.mark.parametrize("make", [claimed, marked])
def test_a_live_claim_cannot_be_decided(shop: Shop, make: Any) -> None:
    """Not even with its own token: it was never taken."""
    job = make(shop)
    lost = shop.call(
        "decide_job",
        job_id=job.job_id,
        owner_token=job.token,
        expected_version=shop.job(job)["version"],
        decision="requeue",
        reason="test",
    )
    assert (lost.outcome, shop.job(job)["state"]) == ("held_by_other", "claimed")


def test_evidence_added_meanwhile_fences_the_decision(shop: Shop) -> None:
    """It was made on less than what is known now."""
    taken = swept(shop, marked(shop))
    look_up(shop, taken, "lookup_found", provider_ref="ref-1")
    lost = decide(shop, taken, "requeue", expected_version=taken.version)
    assert lost.outcome == "held_by_other"


# -- races ---------------------------------------------------------------------------------------


def test_racing_decisions_end_a_job_once(racing_shop: Shop) -> None:
    """Two sweepers believe to hold the row; one question is asked."""
    shop, taken = racing_shop, swept(racing_shop, marked(racing_shop, BLIND))
    given = {"job_id": taken.job_id, "owner_token": taken.owner_token, "reason": "race"}
    given |= {"expected_version": taken.version, "decision": "review"}
    answers = race(*[lambda: shop.run("decide_job", **given)] * 6)
    assert sorted(answer.outcome for answer in answers) == ["replay"] * 5 + ["won"]
    assert len({answer.conflict_id for answer in answers}) == 1
    assert len(shop.rows("conflicts")) == 1


def test_a_late_receipt_races_the_requeue(racing_shop: Shop) -> None:
    """Either the evidence is seen and nothing is sent again, or it came too late to count."""
    shop, rounds = racing_shop, 15
    jobs = [marked(shop, FORCED, n) for n in range(rounds)]
    rows: dict[int, Any] = {}

    def prepare(n: int) -> None:
        rows[n] = swept(shop, jobs[n])

    def requeue(n: int) -> str:
        taken = rows[n]
        answer = shop.run(
            "decide_job",
            job_id=taken.job_id,
            owner_token=taken.owner_token,
            expected_version=taken.version,
            decision="requeue",
            reason="race",
        )
        return answer.outcome

    def receive(n: int) -> str:
        return shop.run("record_receipt", **jobs[n].mine, provider_ref="ch").outcome

    for outcomes in race_rounds(rounds, requeue, receive, between=prepare):
        assert outcomes in (["won", "held_by_other"], ["rule_failed", "held_by_other"])
    assert len(shop.rows("evidence", kind="late_receipt")) == rounds
