"""reconcile_run: it meets the workflow's own word, a second reconciler, and a person."""

from typing import Any
from uuid import UUID

from tests.support.factories import SHOP, Shop
from tests.support.races import race
from tests.support.runs import begun, change, engine_says, pass_grace, reconcile, row, running


def test_the_workflows_word_and_the_reconcilers_exclude_each_other(racing_shop: Shop) -> None:
    """One end; the workflow's result is kept whichever comes first."""
    shop = racing_shop
    for number in range(12):
        run_id = running(shop, external_execution_id=f"e{number}")
        change(
            shop,
            run_id,
            "engine_status = 'success', engine_stopped_at = started_at,"
            " terminal_first_seen_at = clock_timestamp() - interval '31 seconds'",
        )
        named = engine_says(shop, run_id, "success")

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
        run_id = running(shop, external_execution_id=f"e{number}")
        reconcile(shop, run_id, "error")
        pass_grace(shop, run_id)
        named = engine_says(shop, run_id, "error")

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
        named = engine_says(shop, run_id)
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
