"""reconcile_run: a run that is asked to stop, by its deadline or by a person, ends when it did."""

from uuid import UUID

from tests.support.factories import Shop
from tests.support.runs import pass_deadline, pass_grace, reconcile, row, running


def _ask_to_stop(shop: Shop, run_id: UUID) -> None:
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": "request_stop"}
    assert shop.run("decide_run", **named, reason="runs wild", actor="anna").outcome == "won"


def test_past_its_deadline_a_run_is_asked_to_stop_until_it_did(shop: Shop) -> None:
    """A stop that the engine was asked for and is not seen at the next look is a person's too."""
    run_id = running(shop)
    pass_deadline(shop, run_id)
    won = reconcile(shop, run_id, "running")
    run = row(shop, run_id)
    assert (won.action, won.status, won.lock_version) == ("request_stop", "running", 2)
    assert (run["stops_asked"], run["stop_requested_by"], run["needs_operator"]) == (0, None, False)
    told = reconcile(shop, run_id, "running", stop_result="HTTP 200")
    run = row(shop, run_id)
    assert (told.action, run["stops_asked"], run["stop_result"]) == ("request_stop", 1, "HTTP 200")
    assert (run["needs_operator"], run["waiting_since"]) == (False, None)
    again = reconcile(shop, run_id, "running")
    run = row(shop, run_id)
    assert (again.action, run["stops_asked"], run["stop_result"]) == ("request_stop", 1, "HTTP 200")
    assert (run["needs_operator"], run["waiting_since"] is None) == (True, False)
    assert reconcile(shop, run_id, "canceled").action == "leave_grace"
    pass_grace(shop, run_id)
    assert reconcile(shop, run_id, "canceled").status == "failed_transient"
    assert row(shop, run_id)["waiting_since"] is None


def test_a_stop_that_a_person_asked_for_is_sent_and_confirmed(shop: Shop) -> None:
    """Also of a run that waits; it ends under that person's name."""
    run_id = running(shop)
    _ask_to_stop(shop, run_id)
    assert row(shop, run_id)["stop_requested_by"] == "anna"
    assert reconcile(shop, run_id, "waiting").action == "request_stop"
    assert row(shop, run_id)["status"] == "running"
    reconcile(shop, run_id, "canceled")
    pass_grace(shop, run_id)
    won = reconcile(shop, run_id, "canceled")
    assert (won.action, won.status) == ("terminated", "cancelled")
    assert row(shop, run_id)["ended_by"] == "stop asked for by anna"


def test_a_run_that_ended_before_the_stop_was_not_cancelled(shop: Shop) -> None:
    """The engine says how it ended."""
    run_id = running(shop)
    _ask_to_stop(shop, run_id)
    reconcile(shop, run_id, "success")
    pass_grace(shop, run_id)
    assert reconcile(shop, run_id, "success").status == "failed_transient"


def test_a_stop_goes_with_the_execution_it_was_asked_for(shop: Shop) -> None:
    """An execution attached later is another one."""
    run_id = running(shop)
    _ask_to_stop(shop, run_id)
    assert reconcile(shop, run_id, "not_found").action == "leave_flagged"
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": "attach_execution"}
    attached = shop.run(
        "decide_run", **named, external_execution_id="8", reason="this one", actor="anna"
    )
    assert attached.outcome == "won"
    run = row(shop, run_id)
    forgotten = ("stop_requested_at", "stop_requested_by", "stop_result", "engine_unknown_since")
    assert ([run[name] for name in forgotten], run["stops_asked"]) == ([None] * 4, 0)
    assert reconcile(shop, run_id, "running").action == "leave"
