"""complete_job: done stays done, and every later caller hears the stored result."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    HANDLE,
    OTHER,
    Held,
    Shop,
    claimed,
    completed,
    decide,
    enqueued,
    expire,
    in_review,
    look_up,
    marked,
    settle,
    sweep,
    swept,
)
from tests.support.races import race, race_rounds

RESULT = {"ok": 1}


def complete(shop: Shop, job: Held, result: Any = RESULT, **more: Any) -> Any:
    """Report the end of the work."""
    return shop.call("complete_job", **(job.mine | {"result": result} | more))


# -- the winning side ----------------------------------------------------------------------------


def test_job_key_and_result_end_together(shop: Shop) -> None:
    """The job lets go of its owner, the key keeps what was answered."""
    job = marked(shop)
    won = complete(shop, job, http_status=201, provider_ref="ch_1", input_hash="abc")
    row, key = shop.job(job), shop.row("idem", job.idem_key)
    assert (won.outcome, won.job_id, won.version, won.detail) == (
        "won",
        job.job_id,
        row["version"],
        None,
    )
    assert (row["state"], row["owner_token"], row["lease_expires_at"]) == ("done", None, None)
    assert (row["last_owner_token"], row["provider_ref"]) == (job.token, "ch_1")
    assert row["done_at"] is not None
    assert (key["status"], key["outcome"], key["result"], key["http_status"]) == (
        "done",
        "success",
        RESULT,
        201,
    )
    assert (key["input_hash"], key["applied_version"]) == ("abc", 1)
    assert shop.rows("evidence")[0]["kind"] == "receipt"


@pytest.mark.parametrize("work_outcome", ["success", "failed", "skipped"])
def test_the_work_has_an_outcome_of_its_own(shop: Shop, work_outcome: str) -> None:
    """A refused payment is done too."""
    job = marked(shop)
    complete(shop, job, work_outcome=work_outcome)
    assert shop.row("idem", job.idem_key)["outcome"] == work_outcome


def test_without_a_mark_it_is_allowed_and_counted(shop: Shop) -> None:
    """The work may have turned out to need no send."""
    won = complete(shop, claimed(shop))
    assert (won.outcome, won.detail["unmarked"]) == ("won", True)


def test_a_late_holder_that_nobody_replaced_may_finish(shop: Shop) -> None:
    """The lease is over, but the token is the row's."""
    job = marked(shop)
    expire(shop, job)
    assert complete(shop, job).outcome == "won"


@pytest.mark.parametrize("result", [None, 0, "", [], {}, "x" * 70_000])
def test_any_result_comes_back_as_it_was(shop: Shop, result: Any) -> None:
    """Empty ones and those too long to stay inline."""
    job = marked(shop)
    complete(shop, job, result)
    again = shop.claim()
    assert (again.outcome, again.result) == ("replay", result)
    assert complete(shop, job, result).outcome == "replay"


# -- the repeat ----------------------------------------------------------------------------------


def test_the_same_result_again_is_a_replay(shop: Shop) -> None:
    """With what is stored, from whoever says it."""
    job = completed(shop)
    before = shop.job(job)
    again = complete(shop, job)
    assert (again.outcome, again.result["ok"], again.http_status) == ("replay", 1, 200)
    assert complete(shop, job, owner_token=uuid4()).outcome == "replay"
    assert shop.job(job) == before


def test_another_result_goes_to_a_person(shop: Shop) -> None:
    """The stored one stays, and the same other one is asked about once."""
    job = completed(shop)
    first, again = complete(shop, job, {"ok": 2}), complete(shop, job, {"ok": 2})
    (conflict,) = shop.rows("conflicts")
    assert (first.outcome, first.detail["differs"], first.result["ok"]) == (
        "result_mismatch",
        "result",
        1,
    )
    assert first.detail["conflict_id"] == again.detail["conflict_id"] == conflict["id"]
    assert (conflict["attempted"], conflict["current_snapshot"]) == (
        {"value": {"ok": 2}},
        {"value": RESULT},
    )
    assert shop.row("idem", job.idem_key)["result"] == RESULT
    decided = shop.run(
        "decide_conflict",
        actor="ann",
        conflict_id=conflict["id"],
        lock_version=1,
        decision="keep",
        reason="seen",
    )
    assert decided.outcome == "won"
    assert complete(shop, job, {"ok": 2}).outcome == "replay"


def test_another_input_with_the_same_result_is_told_apart(shop: Shop) -> None:
    """It is compared only where both sides named one."""
    job = marked(shop)
    complete(shop, job, input_hash="abc")
    assert complete(shop, job).outcome == "replay"
    lost = complete(shop, job, input_hash="def")
    assert (lost.outcome, lost.detail["differs"]) == ("result_mismatch", "input")


def test_a_repeat_after_the_key_went_on_is_no_mismatch(shop: Shop) -> None:
    """Version 2 has its own result by now."""
    old = completed(shop)
    new = shop.claim(effect_version=2)
    assert complete(shop, old).outcome == "replay"
    shop.run("complete_job", job_id=new.job_id, owner_token=new.owner_token, result={"ok": 2})
    assert complete(shop, old).outcome == "replay"
    assert shop.rows("conflicts") == []


# -- the losing side -----------------------------------------------------------------------------


def test_a_fenced_worker_changes_nothing_and_is_heard(shop: Shop) -> None:
    """A dies after its send, the sweep takes the row, A comes back before it is decided."""
    job = marked(shop, HANDLE)
    taken = swept(shop, job)
    before = shop.job(job)
    late = complete(shop, job, provider_ref="mail-1")
    (evidence,) = shop.rows("evidence")
    assert (late.outcome, late.detail["evidence_id"]) == ("held_by_other", evidence["id"])
    assert (evidence["kind"], evidence["provider_ref"], evidence["body"]) == (
        "late_receipt",
        "mail-1",
        RESULT,
    )
    assert (shop.job(job), shop.row("idem", job.idem_key)["status"]) == (before, "pending")
    assert decide(shop, taken, "done").state == "done"


def test_a_fenced_worker_of_a_job_offered_again(shop: Shop) -> None:
    """The sweeper gave a forced-unique job back to the queue; its state is the sweeper's."""
    job = marked(shop)
    assert decide(shop, swept(shop, job), "requeue").state == "queued"
    late = complete(shop, job, provider_ref="ch_1")
    assert (late.outcome, late.detail["state"]) == ("held_by_other", "queued")
    assert shop.rows("evidence")[0]["kind"] == "late_receipt"
    assert shop.job(job)["state"] == "queued"


@pytest.mark.parametrize("effect", [HANDLE, BLIND])
def test_a_fenced_worker_of_a_job_in_review(shop: Shop, effect: str) -> None:
    """The person who decides sees what it says; a result without an id is kept as well."""
    job = in_review(shop, effect)
    late = complete(shop, job)
    evidence = shop.rows("evidence")[-1]
    assert (late.outcome, late.detail["evidence_id"]) == ("in_review", evidence["id"])
    assert (evidence["kind"], evidence["body"]) == ("late_result", RESULT)
    assert shop.job(job)["state"] == "review"


def test_a_fenced_worker_of_a_job_the_sweeper_closed(shop: Shop) -> None:
    """Its own result is another one than the sweeper's, and a person may take it."""
    job = marked(shop, HANDLE)
    taken = swept(shop, job)
    settle(shop, taken)
    look_up(shop, taken, "lookup_found", provider_ref="mail-1")
    assert decide(shop, taken, "done").state == "done"
    late = complete(shop, job)
    assert (late.outcome, late.result["decided_by"]) == ("result_mismatch", "sweeper")
    assert shop.job(job)["state"] == "done"


def test_a_second_token_cannot_write_before_expiry_and_the_old_one_not_after(shop: Shop) -> None:
    """Time gates the competitor, identity gates the continuation."""
    job = marked(shop)
    fresh = uuid4()
    assert shop.claim(owner_token=fresh).outcome == "held_by_other"
    assert complete(shop, job, owner_token=fresh).outcome == "held_by_other"
    assert shop.job(job)["state"] == "claimed"
    swept(shop, job)
    assert complete(shop, job).outcome == "held_by_other"
    assert shop.job(job)["state"] == "sweeping"


def test_what_nobody_holds_or_knows(shop: Shop) -> None:
    """A queued job, a job that is gone, another workflow."""
    waiting = Held(enqueued(shop, event=2), "charge:2", uuid4(), 1, {})
    assert complete(shop, waiting).outcome == "held_by_other"
    job = marked(shop)
    assert complete(shop, job, job_id="gone").outcome == "lost_claim"
    stranger = {"workflow": OTHER, "owner_token": uuid4()}
    assert complete(shop, job, **stranger).outcome == "wrong_role"
    assert complete(shop, completed(shop, event=3), **stranger).outcome == "wrong_role"


# -- races ---------------------------------------------------------------------------------------


def test_racing_completions_store_one_result(racing_shop: Shop) -> None:
    """Eight workers share one token; one result wins, and the others hear it."""
    shop, job = racing_shop, marked(racing_shop)
    answers = race(
        *[lambda n=n: shop.run("complete_job", **job.mine, result={"n": n % 2}) for n in range(8)]
    )
    outcomes = sorted(answer.outcome for answer in answers)
    assert outcomes == ["replay"] * 3 + ["result_mismatch"] * 4 + ["won"]
    assert len(shop.rows("conflicts")) == 1


def test_complete_races_the_sweep_for_one_terminal_state(racing_shop: Shop) -> None:
    """Fifty times: the job is done by its holder or in review by the sweeper, never both."""
    shop, rounds = racing_shop, 50
    jobs = [marked(shop, BLIND, n) for n in range(rounds)]

    def finish(n: int) -> str:
        return str(shop.run("complete_job", **jobs[n].mine, result=RESULT).outcome)

    def recover(_round: int) -> str:
        (taken,) = sweep(shop) or [None]
        if taken is None:
            return "empty"
        version = {"expected_version": taken.version, "decision": "review", "reason": "expired"}
        who = {"job_id": taken.job_id, "owner_token": taken.owner_token}
        return str(shop.run("decide_job", **who, **version).outcome)

    answers = race_rounds(rounds, finish, recover, between=lambda n: expire(shop, jobs[n]))
    for job, (finished, recovered) in zip(jobs, answers, strict=True):
        state = shop.job(job)["state"]
        assert (finished, recovered, state) in {
            ("won", "empty", "done"),
            ("held_by_other", "won", "review"),
            ("in_review", "won", "review"),
        }
        ends = shop.owner.execute(
            "SELECT count(*) FROM audit_events WHERE job_id = %s AND outcome = 'won'"
            " AND op IN ('complete_job', 'decide_job')",
            [job.job_id],
        ).fetchone()
        assert ends == (1,)
