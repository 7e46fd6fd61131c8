"""reconcile_run: what the engine says of a run, and that no end is made up."""

from datetime import datetime
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from sweeper.decisions.reconcile import Facts, decide
from tests.support.factories import Shop
from tests.support.runs import (
    ENDS,
    STOPPED,
    begun,
    change,
    engine_says,
    pass_deadline,
    pass_grace,
    reconcile,
    row,
    running,
)

OTHERS = ["new", "running", "waiting", "unknown", "not_found", "unreachable"]


# -- the table -----------------------------------------------------------------------------------

CELLS = list(product([True, False], [True, False], [*ENDS, *OTHERS]))


@pytest.mark.parametrize(("known", "limit", "status"), CELLS)
def test_the_database_holds_the_decision_table(
    sql_shop: Shop, known: bool, limit: bool, status: str
) -> None:
    """With and without an execution, a deadline that passed, and each word of an engine."""
    run_id = begun(sql_shop, external_execution_id="7" if known else None)
    if limit:
        pass_deadline(sql_shop, run_id)
    fact = Facts(
        has_execution=known,
        engine_status=status if known else None,
        stopped=status in ENDS,
        past_deadline=limit,
    )
    won = reconcile(sql_shop, run_id, status)
    assert (won.outcome, won.action, won.status) == ("won", decide(fact), "running")
    again = reconcile(sql_shop, run_id, status)
    assert again.action == decide(fact), "the same look twice"
    if known and status in ENDS:
        pass_grace(sql_shop, run_id)
        ended = reconcile(sql_shop, run_id, status)
        assert (ended.action, ended.status) == ("terminated", "failed_transient")


# -- what an answer does -------------------------------------------------------------------------


def test_an_end_is_believed_after_the_grace(shop: Shop) -> None:
    """The engine's own word first, then the moment in which the workflow's may still arrive."""
    run_id = running(shop)
    assert reconcile(shop, run_id, "success").action == "leave_grace"
    seen = row(shop, run_id)
    assert (seen["status"], seen["engine_status"], seen["engine_stopped_at"]) == (
        "running",
        "success",
        STOPPED,
    )
    assert reconcile(shop, run_id, "success").action == "leave_grace"
    assert row(shop, run_id)["terminal_first_seen_at"] == seen["terminal_first_seen_at"]
    pass_grace(shop, run_id)
    won = reconcile(shop, run_id, "success")
    run = row(shop, run_id)
    assert (won.action, won.status, run["ended_by"]) == (
        "terminated",
        "failed_transient",
        "reconciler",
    )
    assert run["ended_at"] == run["engine_confirmed_at"] is not None
    assert run["lock_version"] == won.lock_version


def test_an_end_that_is_taken_back_is_none(shop: Shop) -> None:
    """An engine that lists a waiting execution as crashed for a moment ends nothing."""
    run_id = running(shop)
    assert reconcile(shop, run_id, "crashed").action == "leave_grace"
    pass_grace(shop, run_id)
    assert reconcile(shop, run_id, "waiting").action == "leave"
    assert row(shop, run_id)["terminal_first_seen_at"] is None


@pytest.mark.parametrize(("status", "stopped_at"), [("success", None), ("waiting", STOPPED)])
def test_half_an_end_is_none(shop: Shop, status: str, stopped_at: datetime | None) -> None:
    """Both a final status and a stop time make an end."""
    run_id = running(shop)
    assert reconcile(shop, run_id, status, stopped_at=stopped_at).action == "leave"
    assert row(shop, run_id)["terminal_first_seen_at"] is None


def test_without_an_execution_a_person_is_asked(shop: Shop) -> None:
    """Once: a second look leaves the flag, its age and what a person may be looking at."""
    run_id = begun(shop)
    won = reconcile(shop, run_id)
    first = row(shop, run_id)
    assert (won.action, first["needs_operator"], won.lock_version) == ("leave_flagged", True, 2)
    assert reconcile(shop, run_id).lock_version == 2
    assert row(shop, run_id)["waiting_since"] == first["waiting_since"] is not None


def test_a_muted_flag_stays_down(shop: Shop) -> None:
    """For as long as the person said."""
    run_id = begun(shop)
    reconcile(shop, run_id)
    change(
        shop,
        run_id,
        "needs_operator = false, waiting_since = NULL,"
        " flag_muted_until = clock_timestamp() + interval '1 hour'",
    )
    assert (reconcile(shop, run_id).action, row(shop, run_id)["needs_operator"]) == ("leave", False)
    change(shop, run_id, "flag_muted_until = clock_timestamp() - interval '1 second'")
    assert reconcile(shop, run_id).action == "leave_flagged"


def test_an_engine_out_of_reach_is_a_persons_matter_only_after_a_while(shop: Shop) -> None:
    """And no more once it answers again."""
    run_id = running(shop)
    assert reconcile(shop, run_id, "unreachable").action == "leave"
    since = row(shop, run_id)["engine_unknown_since"]
    assert reconcile(shop, run_id, "unreachable").action == "leave"
    assert row(shop, run_id)["engine_unknown_since"] == since is not None
    change(shop, run_id, "engine_unknown_since = clock_timestamp() - interval '3601 seconds'")
    assert reconcile(shop, run_id, "unreachable").action == "leave_flagged"
    assert reconcile(shop, run_id, "running").action == "leave"
    run = row(shop, run_id)
    assert (run["needs_operator"], run["waiting_since"], run["engine_unknown_since"]) == (
        False,
        None,
        None,
    )


def test_the_job_keeps_its_hold(shop: Shop) -> None:
    """The end of an execution says nothing of the effect."""
    claimed = shop.claim()
    run_id = running(shop, job_id=claimed.job_id)
    before = shop.job(claimed.job_id)
    reconcile(shop, run_id, "error")
    pass_grace(shop, run_id)
    assert reconcile(shop, run_id, "error").action == "terminated"
    assert shop.job(claimed.job_id) == before


# -- the losing side -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other", [{"external_execution_id": "8"}, {"instance": "backup"}, {"expected_lock_version": 2}]
)
def test_a_run_that_moved_since_it_was_read_is_left(shop: Shop, other: dict[str, Any]) -> None:
    """The answer may be about another execution: nothing is written."""
    run_id = running(shop)
    before = row(shop, run_id)
    lost = reconcile(shop, run_id, "success", **other)
    assert (lost.outcome, lost.action, lost.lock_version) == ("stale_version", None, 1)
    assert row(shop, run_id) == before


def test_an_execution_that_was_attached_meanwhile_is_another(shop: Shop) -> None:
    """Who read that there was none may not flag it."""
    run_id = begun(shop)
    named = engine_says(shop, run_id)
    change(shop, run_id, "external_execution_id = '7'")
    assert shop.call("reconcile_run", **named).outcome == "stale_version"


def test_what_ended_stays_as_it_ended_and_is_confirmed_once(shop: Shop) -> None:
    """A crash the engine reports after the workflow's own word is noted and changes nothing."""
    run_id = running(shop)
    stale = engine_says(shop, run_id, "running")
    assert shop.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    before = row(shop, run_id)
    assert shop.call("reconcile_run", **stale).outcome == "already_terminal"
    late = shop.call("reconcile_run", **stale | {"engine_status": "error", "stopped_at": STOPPED})
    assert (late.outcome, row(shop, run_id)) == ("already_terminal", before)
    unseen = reconcile(shop, run_id, "unreachable")
    assert (unseen.detail["confirmed"], row(shop, run_id)) == (False, before)
    on = reconcile(shop, run_id, "running")
    run = row(shop, run_id)
    assert (on.outcome, on.status, on.detail["confirmed"]) == (
        "already_terminal",
        "completed",
        False,
    )
    assert (run["engine_status"], run["engine_confirmed_at"]) == ("running", None)
    told = reconcile(shop, run_id, "crashed")
    run = row(shop, run_id)
    assert (told.outcome, told.status, told.detail["confirmed"]) == (
        "already_terminal",
        "completed",
        True,
    )
    assert (run["engine_status"], run["engine_confirmed_at"] is None) == ("crashed", False)
    again = reconcile(shop, run_id, "error")
    assert (again.detail["confirmed"], row(shop, run_id)) == (False, run)


def test_a_run_nobody_began(shop: Shop) -> None:
    """It was purged, or never was."""
    named = {"run_id": uuid4(), "expected_lock_version": 1, "instance": "default"}
    assert shop.call("reconcile_run", **named).outcome == "lost_record"


@pytest.mark.parametrize(
    "wrong", [{"engine_status": None}, {"external_execution_id": None}, {"engine_status": "asleep"}]
)
def test_an_execution_comes_with_what_the_engine_said(shop: Shop, wrong: dict[str, Any]) -> None:
    """Or a deadline would stop what nobody looked at."""
    run_id = running(shop)
    pass_deadline(shop, run_id)
    refused = reconcile(shop, run_id, "running", **wrong)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "engine_status")
