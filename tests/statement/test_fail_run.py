"""fail_run: the workflow itself says that its run failed, once."""

from typing import Any
from uuid import UUID, uuid4

from tests.support.factories import OTHER, Shop, claimed
from tests.support.races import race_rounds
from tests.support.runs import begun, flagged, row


def test_a_run_fails_with_its_error(shop: Shop) -> None:
    """Nobody has to look at it any more."""
    run_id = flagged(shop)
    won = shop.call("fail_run", run_id=run_id, error="it broke")
    run = row(shop, run_id)
    assert (won.outcome, won.status, run["error"]) == ("won", "failed", "it broke")
    assert (run["ended_by"], run["result"], run["waiting_since"]) == ("workflow", None, None)


def test_a_failure_again_is_a_replay(shop: Shop) -> None:
    """The first error stays."""
    run_id = begun(shop)
    shop.call("fail_run", run_id=run_id, error="it broke")
    before = row(shop, run_id)
    assert shop.call("fail_run", run_id=run_id, error="another").outcome == "replay"
    assert row(shop, run_id) == before


def test_a_complete_run_does_not_fail(shop: Shop) -> None:
    """What came late is kept; no job ends by it."""
    job = claimed(shop)
    run_id = begun(shop, job_id=job.job_id)
    shop.run("complete_run", run_id=run_id, result={})
    lost = shop.call("fail_run", run_id=run_id, error="it broke")
    run = row(shop, run_id)
    assert (lost.outcome, lost.detail["status"]) == ("already_terminal", "completed")
    assert (run["status"], run["error"], run["late_result"]["error"]) == (
        "completed",
        None,
        "it broke",
    )
    assert shop.job(job)["state"] == "claimed"


def test_only_its_own_workflow_ends_a_run(shop: Shop) -> None:
    """And only one that began."""
    run_id = begun(shop)
    assert shop.call("fail_run", run_id=run_id, error="x", workflow=OTHER).outcome == "wrong_role"
    assert shop.call("fail_run", run_id=uuid4(), error="x").outcome == "lost_claim"
    assert row(shop, run_id)["status"] == "running"


def test_two_failures_at_once_are_one(racing_shop: Shop) -> None:
    """The first error stays, and the other caller hears that it is over."""
    shop, runs, errors = racing_shop, list[UUID](), ("it broke", "it broke twice", "and again")

    def fail(error: str) -> Any:
        return lambda n: shop.run("fail_run", run_id=runs[n], error=error).outcome

    racers = [fail(error) for error in errors]
    for n, answers in enumerate(
        race_rounds(15, *racers, between=lambda _: runs.append(begun(shop)))
    ):
        assert sorted(answers) == ["replay", "replay", "won"]
        assert row(shop, runs[n])["error"] == errors[answers.index("won")]
