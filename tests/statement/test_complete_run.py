"""complete_run: the workflow's own word ends a run, once, and never a job."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import OTHER, Shop, claimed
from tests.support.races import race
from tests.support.runs import begun, flagged, row

RESULT = {"sent": 3}


@pytest.mark.parametrize("result", [RESULT, None, [], "done", 0])
def test_a_run_completes_with_its_result(shop: Shop, result: Any) -> None:
    """Whatever a workflow calls its result, null included; a flag is taken away."""
    run_id = flagged(shop)
    won = shop.call("complete_run", run_id=run_id, result=result)
    run = row(shop, run_id)
    assert (won.outcome, won.run_id, won.status) == ("won", run_id, "completed")
    assert (run["result"], run["ended_by"], run["ended_at"] is None) == (result, "workflow", False)
    assert (run["needs_operator"], run["waiting_since"]) == (False, None)


def test_the_same_result_again_is_a_replay(shop: Shop) -> None:
    """Nothing is kept twice."""
    run_id = begun(shop)
    shop.call("complete_run", run_id=run_id, result=RESULT)
    before = row(shop, run_id)
    assert shop.call("complete_run", run_id=run_id, result=RESULT).outcome == "replay"
    assert row(shop, run_id) == before


@pytest.mark.parametrize("ended", ["completed", "failed", "failed_transient", "cancelled"])
def test_a_run_that_ended_keeps_what_came_late(shop: Shop, ended: str) -> None:
    """It does not run again and closes no job; the first late word is kept."""
    job = claimed(shop)
    run_id = begun(shop, external_execution_id="1", job_id=job.job_id)
    shop.owner.execute(
        "UPDATE runs SET status = %s, ended_at = clock_timestamp(), result = '{\"first\": 1}',"
        " engine_stopped_at = clock_timestamp(), terminal_first_seen_at = clock_timestamp(),"
        " engine_status = 'error'",
        [ended],
    )
    for late in (RESULT, {"another": 1}):
        lost = shop.call("complete_run", run_id=run_id, result=late)
        assert (lost.outcome, lost.detail["status"]) == ("already_terminal", ended)
    run = row(shop, run_id)
    assert (run["status"], run["result"]) == (ended, {"first": 1})
    assert run["late_result"]["result"] == RESULT
    assert shop.job(job)["state"] == "claimed"


def test_only_its_own_workflow_ends_a_run(shop: Shop) -> None:
    """And only one that began."""
    run_id = begun(shop)
    assert (
        shop.call("complete_run", run_id=run_id, result=1, workflow=OTHER).outcome == "wrong_role"
    )
    assert shop.call("complete_run", run_id=uuid4(), result=1).outcome == "lost_claim"
    assert row(shop, run_id)["status"] == "running"


def test_complete_and_fail_exclude_each_other(racing_shop: Shop) -> None:
    """One ends the run, the other is kept as what came late."""
    shop = racing_shop
    for _ in range(10):
        run_id = begun(shop)

        def complete(run_id: Any = run_id) -> Any:
            return shop.run("complete_run", run_id=run_id, result=RESULT)

        def fail(run_id: Any = run_id) -> Any:
            return shop.run("fail_run", run_id=run_id, error="no")

        completed, failed = race(complete, fail)
        assert {completed.outcome, failed.outcome} == {"won", "already_terminal"}
        run = row(shop, run_id)
        assert run["status"] == ("completed" if completed.outcome == "won" else "failed")
        assert run["late_result"] is not None
