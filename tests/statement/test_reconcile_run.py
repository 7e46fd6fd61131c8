"""reconcile_run: what the engine says of a run, and that no end is made up."""

from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest

from sweeper.decisions.reconcile import Facts, decide
from tests.support.factories import SHOP, Shop
from tests.support.races import race
from tests.support.runs import begun, row

STOPPED = datetime(2026, 11, 30, 9, tzinfo=UTC)
ENDS = ["success", "error", "crashed", "canceled"]
OTHERS = ["new", "running", "waiting", "unknown", "not_found", "unreachable"]


def _named(shop: Shop, run_id: UUID, status: str | None = None, **more: Any) -> dict[str, Any]:
    run = row(shop, run_id)
    named = {"run_id": run_id, "expected_lock_version": run["lock_version"]}
    named |= {"instance": run["instance"], "actor": "reconciler-1"}
    if run["external_execution_id"]:
        named |= {"external_execution_id": run["external_execution_id"], "engine_status": status}
    if status in ENDS:
        named["stopped_at"] = STOPPED
    return named | more


def _look(shop: Shop, run_id: UUID, status: str | None = None, **more: Any) -> Any:
    return shop.call("reconcile_run", **_named(shop, run_id, status, **more))


def _begun(shop: Shop, **more: Any) -> UUID:
    return begun(shop, **({"external_execution_id": "7"} | more))


def _set(shop: Shop, run_id: UUID, assignment: str) -> None:
    shop.owner.execute(f"UPDATE runs SET {assignment} WHERE id = %s", [run_id])  # noqa: S608 - ours


def _past_deadline(shop: Shop, run_id: UUID) -> None:
    _set(shop, run_id, "deadline_at = clock_timestamp() - interval '1 second'")


def _grace_over(shop: Shop, run_id: UUID) -> None:
    _set(shop, run_id, "terminal_first_seen_at = clock_timestamp() - interval '31 seconds'")


def _ask_to_stop(shop: Shop, run_id: UUID) -> None:
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": "request_stop"}
    assert shop.run("decide_run", **named, reason="runs wild", actor="anna").outcome == "won"


# -- the table -----------------------------------------------------------------------------------

CELLS = list(product([True, False], [True, False], [*ENDS, *OTHERS]))


@pytest.mark.parametrize(("known", "limit", "status"), CELLS)
def test_the_database_holds_the_decision_table(
    sql_shop: Shop, known: bool, limit: bool, status: str
) -> None:
    """With and without an execution, a deadline that passed, and each word of an engine."""
    run_id = begun(sql_shop, external_execution_id="7" if known else None)
    if limit:
        _past_deadline(sql_shop, run_id)
    fact = Facts(
        has_execution=known,
        engine_status=status if known else None,
        stopped=status in ENDS,
        past_deadline=limit,
    )
    won = _look(sql_shop, run_id, status)
    assert (won.outcome, won.action, won.status) == ("won", decide(fact), "running")
    again = _look(sql_shop, run_id, status)
    assert again.action == decide(fact), "the same look twice"
    if known and status in ENDS:
        _grace_over(sql_shop, run_id)
        ended = _look(sql_shop, run_id, status)
        assert (ended.action, ended.status) == ("terminated", "failed_transient")


# -- what an answer does -------------------------------------------------------------------------


def test_an_end_is_believed_after_the_grace(shop: Shop) -> None:
    """The engine's own word first, then the moment in which the workflow's may still arrive."""
    run_id = _begun(shop)
    assert _look(shop, run_id, "success").action == "leave_grace"
    seen = row(shop, run_id)
    assert (seen["status"], seen["engine_status"], seen["engine_stopped_at"]) == (
        "running",
        "success",
        STOPPED,
    )
    assert _look(shop, run_id, "success").action == "leave_grace"
    assert row(shop, run_id)["terminal_first_seen_at"] == seen["terminal_first_seen_at"]
    _grace_over(shop, run_id)
    won = _look(shop, run_id, "success")
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
    run_id = _begun(shop)
    assert _look(shop, run_id, "crashed").action == "leave_grace"
    _grace_over(shop, run_id)
    assert _look(shop, run_id, "waiting").action == "leave"
    assert row(shop, run_id)["terminal_first_seen_at"] is None


@pytest.mark.parametrize(("status", "stopped_at"), [("success", None), ("waiting", STOPPED)])
def test_half_an_end_is_none(shop: Shop, status: str, stopped_at: datetime | None) -> None:
    """Both a final status and a stop time make an end."""
    run_id = _begun(shop)
    assert _look(shop, run_id, status, stopped_at=stopped_at).action == "leave"
    assert row(shop, run_id)["terminal_first_seen_at"] is None


def test_without_an_execution_a_person_is_asked(shop: Shop) -> None:
    """Once: a second look leaves the flag, its age and what a person may be looking at."""
    run_id = begun(shop)
    won = _look(shop, run_id)
    first = row(shop, run_id)
    assert (won.action, first["needs_operator"], won.lock_version) == ("leave_flagged", True, 2)
    assert _look(shop, run_id).lock_version == 2
    assert row(shop, run_id)["waiting_since"] == first["waiting_since"] is not None


def test_a_muted_flag_stays_down(shop: Shop) -> None:
    """For as long as the person said."""
    run_id = begun(shop)
    _look(shop, run_id)
    _set(
        shop,
        run_id,
        "needs_operator = false, waiting_since = NULL,"
        " flag_muted_until = clock_timestamp() + interval '1 hour'",
    )
    assert (_look(shop, run_id).action, row(shop, run_id)["needs_operator"]) == ("leave", False)
    _set(shop, run_id, "flag_muted_until = clock_timestamp() - interval '1 second'")
    assert _look(shop, run_id).action == "leave_flagged"


def test_an_engine_out_of_reach_is_a_persons_matter_only_after_a_while(shop: Shop) -> None:
    """And no more once it answers again."""
    run_id = _begun(shop)
    assert _look(shop, run_id, "unreachable").action == "leave"
    since = row(shop, run_id)["engine_unknown_since"]
    assert _look(shop, run_id, "unreachable").action == "leave"
    assert row(shop, run_id)["engine_unknown_since"] == since is not None
    _set(shop, run_id, "engine_unknown_since = clock_timestamp() - interval '3601 seconds'")
    assert _look(shop, run_id, "unreachable").action == "leave_flagged"
    assert _look(shop, run_id, "running").action == "leave"
    run = row(shop, run_id)
    assert (run["needs_operator"], run["waiting_since"], run["engine_unknown_since"]) == (
        False,
        None,
        None,
    )


def test_past_its_deadline_a_run_is_asked_to_stop_until_it_did(shop: Shop) -> None:
    """A stop that was accepted and not seen is asked for again, and is for a person too."""
    run_id = _begun(shop)
    _past_deadline(shop, run_id)
    won = _look(shop, run_id, "running")
    run = row(shop, run_id)
    assert (won.action, won.status, won.lock_version) == ("request_stop", "running", 2)
    assert (run["stops_asked"], run["stop_requested_by"], run["needs_operator"]) == (1, None, False)
    again = _look(shop, run_id, "running", stop_result="HTTP 200")
    run = row(shop, run_id)
    assert (again.action, run["stops_asked"], run["stop_result"]) == ("request_stop", 2, "HTTP 200")
    assert (run["needs_operator"], run["waiting_since"] is None) == (True, False)
    assert _look(shop, run_id, "canceled").action == "leave_grace"
    _grace_over(shop, run_id)
    assert _look(shop, run_id, "canceled").status == "failed_transient"
    assert row(shop, run_id)["waiting_since"] is None


def test_a_stop_that_a_person_asked_for_is_sent_and_confirmed(shop: Shop) -> None:
    """Also of a run that waits; it ends under that person's name."""
    run_id = _begun(shop)
    _ask_to_stop(shop, run_id)
    assert row(shop, run_id)["stop_requested_by"] == "anna"
    assert _look(shop, run_id, "waiting").action == "request_stop"
    assert row(shop, run_id)["status"] == "running"
    _look(shop, run_id, "canceled")
    _grace_over(shop, run_id)
    won = _look(shop, run_id, "canceled")
    assert (won.action, won.status) == ("terminated", "cancelled")
    assert row(shop, run_id)["ended_by"] == "stop asked for by anna"


def test_a_run_that_ended_before_the_stop_was_not_cancelled(shop: Shop) -> None:
    """The engine says how it ended."""
    run_id = _begun(shop)
    _ask_to_stop(shop, run_id)
    _look(shop, run_id, "success")
    _grace_over(shop, run_id)
    assert _look(shop, run_id, "success").status == "failed_transient"


def test_a_stop_goes_with_the_execution_it_was_asked_for(shop: Shop) -> None:
    """An execution attached later is another one."""
    run_id = _begun(shop)
    _ask_to_stop(shop, run_id)
    assert _look(shop, run_id, "not_found").action == "leave_flagged"
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": "attach_execution"}
    attached = shop.run(
        "decide_run", **named, external_execution_id="8", reason="this one", actor="anna"
    )
    assert attached.outcome == "won"
    run = row(shop, run_id)
    forgotten = ("stop_requested_at", "stop_requested_by", "stop_result", "engine_unknown_since")
    assert ([run[name] for name in forgotten], run["stops_asked"]) == ([None] * 4, 0)
    assert _look(shop, run_id, "running").action == "leave"


def test_the_job_keeps_its_hold(shop: Shop) -> None:
    """The end of an execution says nothing of the effect."""
    claimed = shop.claim()
    run_id = _begun(shop, job_id=claimed.job_id)
    before = shop.job(claimed.job_id)
    _look(shop, run_id, "error")
    _grace_over(shop, run_id)
    assert _look(shop, run_id, "error").action == "terminated"
    assert shop.job(claimed.job_id) == before


# -- the losing side -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other", [{"external_execution_id": "8"}, {"instance": "backup"}, {"expected_lock_version": 2}]
)
def test_a_run_that_moved_since_it_was_read_is_left(shop: Shop, other: dict[str, Any]) -> None:
    """The answer may be about another execution: nothing is written."""
    run_id = _begun(shop)
    before = row(shop, run_id)
    lost = _look(shop, run_id, "success", **other)
    assert (lost.outcome, lost.action, lost.lock_version) == ("stale_version", None, 1)
    assert row(shop, run_id) == before


def test_an_execution_that_was_attached_meanwhile_is_another(shop: Shop) -> None:
    """Who read that there was none may not flag it."""
    run_id = begun(shop)
    named = _named(shop, run_id)
    _set(shop, run_id, "external_execution_id = '7'")
    assert shop.call("reconcile_run", **named).outcome == "stale_version"


def test_what_ended_stays_as_it_ended_and_is_confirmed_once(shop: Shop) -> None:
    """A crash the engine reports after the workflow's own word is noted and changes nothing."""
    run_id = _begun(shop)
    stale = _named(shop, run_id, "running")
    assert shop.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    before = row(shop, run_id)
    assert shop.call("reconcile_run", **stale).outcome == "already_terminal"
    late = shop.call("reconcile_run", **stale | {"engine_status": "error", "stopped_at": STOPPED})
    assert (late.outcome, row(shop, run_id)) == ("already_terminal", before)
    told = _look(shop, run_id, "crashed")
    run = row(shop, run_id)
    assert (told.outcome, told.status, told.detail["confirmed"]) == (
        "already_terminal",
        "completed",
        True,
    )
    assert (run["engine_status"], run["engine_confirmed_at"] is None) == ("crashed", False)
    again = _look(shop, run_id, "error")
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
    run_id = _begun(shop)
    _past_deadline(shop, run_id)
    refused = _look(shop, run_id, "running", **wrong)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "engine_status")


# -- races ---------------------------------------------------------------------------------------


def test_the_workflows_word_and_the_reconcilers_exclude_each_other(racing_shop: Shop) -> None:
    """One end; the workflow's result is kept whichever comes first."""
    shop = racing_shop
    for number in range(12):
        run_id = _begun(shop, external_execution_id=f"e{number}")
        _set(
            shop,
            run_id,
            "engine_status = 'success', engine_stopped_at = started_at,"
            " terminal_first_seen_at = clock_timestamp() - interval '31 seconds'",
        )
        named = _named(shop, run_id, "success")

        def look(named: dict[str, Any] = named) -> Any:
            return shop.run("reconcile_run", **named)

        def complete(run_id: UUID = run_id) -> Any:
            return shop.run("complete_run", run_id=run_id, result={"ok": 1})

        looked, completed = race(look, complete)
        run = row(shop, run_id)
        assert {looked.outcome, completed.outcome} == {"won", "already_terminal"}
        if completed.outcome == "won":
            assert (run["status"], run["result"]) == ("completed", {"ok": 1})
        else:
            assert (run["status"], run["late_result"]["result"]) == ("failed_transient", {"ok": 1})


def test_of_two_reconcilers_one_ends_a_run(racing_shop: Shop) -> None:
    """The other hears that it is over."""
    shop = racing_shop
    for number in range(12):
        run_id = _begun(shop, external_execution_id=f"e{number}")
        _look(shop, run_id, "error")
        _grace_over(shop, run_id)
        named = _named(shop, run_id, "error")

        def look(named: dict[str, Any] = named) -> Any:
            return shop.run("reconcile_run", **named)

        outcomes = sorted(answer.outcome for answer in race(look, look))
        assert outcomes == ["already_terminal", "won"]
    assert len(shop.rows("runs", status="failed_transient", workflow=SHOP)) == 12


def test_a_person_who_names_the_execution_and_the_reconciler_meet(racing_shop: Shop) -> None:
    """Who is second hears that the run moved; no flag stands on what a person just settled."""
    shop = racing_shop
    for number in range(12):
        run_id = begun(shop)
        named = _named(shop, run_id)
        attach = {"run_id": run_id, "lock_version": 1, "decision": "attach_execution"}
        attach |= {"external_execution_id": f"e{number}", "reason": "found it", "actor": "anna"}

        def look(named: dict[str, Any] = named) -> Any:
            return shop.run("reconcile_run", **named)

        def decide_(attach: dict[str, Any] = attach) -> Any:
            return shop.run("decide_run", **attach)

        looked, decided = race(look, decide_)
        run = row(shop, run_id)
        if decided.outcome == "won":
            assert (looked.outcome, run["needs_operator"]) == ("stale_version", False)
        else:
            assert (looked.action, decided.outcome) == ("leave_flagged", "already_decided")
            assert (run["external_execution_id"], run["needs_operator"]) == (None, True)
