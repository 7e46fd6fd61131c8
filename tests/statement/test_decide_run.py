"""decide_run: what only a person may decide about a run the system cannot end by itself."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.factories import Shop
from tests.support.races import race
from tests.support.runs import begun, flagged, row

DECISIONS = ["request_stop", "clear_flag", "attach_execution", "declare_ended"]


def _decide(shop: Shop, run_id: UUID, decision: str, **more: Any) -> Any:
    return shop.call("decide_run", **_named(shop, run_id, decision, **more))


def _named(shop: Shop, run_id: UUID, decision: str, **more: Any) -> dict[str, Any]:
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": decision}
    return named | {"reason": "looked", "actor": "anna"} | more


# -- the winning side ----------------------------------------------------------------------------


def test_a_stop_is_asked_for_and_the_run_goes_on(shop: Shop) -> None:
    """Whether it stopped is the engine's word."""
    run_id = flagged(shop, external_execution_id="7")
    won = _decide(shop, run_id, "request_stop")
    run = row(shop, run_id)
    assert (won.outcome, won.status, run["status"]) == ("won", "running", "running")
    assert run["stop_requested_at"] is not None
    assert (run["needs_operator"], run["waiting_since"] is None) == (True, False)


def test_a_cleared_flag_is_muted_for_a_day(shop: Shop) -> None:
    """It leaves the queue and keeps running."""
    run_id = flagged(shop)
    assert _decide(shop, run_id, "clear_flag").outcome == "won"
    run = row(shop, run_id)
    (now,) = shop.owner.execute("SELECT clock_timestamp()").fetchone() or ()
    assert timedelta(hours=23) < run["flag_muted_until"] - now < timedelta(hours=25)
    assert (run["status"], run["needs_operator"], run["waiting_since"]) == ("running", False, None)


def test_an_execution_is_attached_and_looked_up_anew(shop: Shop) -> None:
    """What the engine said of the other one is forgotten."""
    run_id = flagged(shop, external_execution_id="7")
    won = _decide(shop, run_id, "attach_execution", external_execution_id="8", instance="backup")
    run = row(shop, run_id)
    assert (won.outcome, run["external_execution_id"], run["instance"]) == ("won", "8", "backup")
    assert (run["engine_status"], run["terminal_first_seen_at"]) == (None, None)
    assert (run["needs_operator"], run["waiting_since"]) == (False, None)


def test_a_run_ends_by_statement(shop: Shop) -> None:
    """Under the name of who said so."""
    run_id = begun(shop)
    won = _decide(shop, run_id, "declare_ended", statement="the server is gone")
    run = row(shop, run_id)
    assert (won.outcome, won.status, run["ended_by"]) == ("won", "cancelled", "statement of anna")
    assert run["ended_at"] is not None


# -- the losing side -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "make", "more", "detail"),
    [
        ("request_stop", begun, {}, {"why": "no_execution_to_stop"}),
        ("clear_flag", begun, {}, {"why": "not_flagged"}),
        ("attach_execution", flagged, {}, {"needs": "external_execution_id"}),
        ("declare_ended", flagged, {}, {"needs": "statement"}),
        ("declare_ended", flagged, {"statement": "  "}, {"needs": "statement"}),
        ("clear_flag", flagged, {"reason": None}, {"needs": "reason"}),
        ("clear_flag", flagged, {"reason": " \n"}, {"needs": "reason"}),
    ],
)
def test_what_a_decision_lacks_is_named(
    shop: Shop, decision: str, make: Any, more: dict[str, Any], detail: dict[str, str]
) -> None:
    """And nothing is written."""
    run_id = make(shop)
    before = row(shop, run_id)
    lost = _decide(shop, run_id, decision, **more)
    assert (lost.outcome, lost.detail) == ("rule_failed", detail)
    assert row(shop, run_id) == before


def test_a_known_execution_is_replaced_only_where_somebody_doubts_it(shop: Shop) -> None:
    """A run whose execution is right keeps it."""
    run_id = begun(shop, external_execution_id="7")
    lost = _decide(shop, run_id, "attach_execution", external_execution_id="8")
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "execution_known")


def test_an_execution_belongs_to_one_run(shop: Shop) -> None:
    """The answer names the other."""
    other = begun(shop, external_execution_id="8")
    lost = _decide(shop, flagged(shop), "attach_execution", external_execution_id="8")
    assert (lost.outcome, lost.detail) == ("rule_failed", {"taken_by": str(other)})


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_run_that_ended_is_not_decided(shop: Shop, decision: str) -> None:
    """There is no way out of an end."""
    run_id = flagged(shop)
    shop.run("complete_run", run_id=run_id, result={})
    before = row(shop, run_id)
    lost = _decide(shop, run_id, decision, statement="x", external_execution_id="9")
    assert (lost.outcome, lost.detail["status"]) == ("already_terminal", "completed")
    assert row(shop, run_id) == before


def test_nothing_is_decided_twice(shop: Shop) -> None:
    """Who saw an earlier state hears that it moved."""
    run_id = flagged(shop)
    named = _named(shop, run_id, "clear_flag")
    assert shop.call("decide_run", **named).outcome == "won"
    again = shop.call("decide_run", **named)
    assert (again.outcome, again.detail["lock_version"]) == ("already_decided", 2)
    unknown = named | {"run_id": uuid4()}
    assert shop.call("decide_run", **unknown).outcome == "invalid"


# -- races ---------------------------------------------------------------------------------------


def test_an_execution_that_starts_meanwhile_is_taken(racing_shop: Shop) -> None:
    """Whoever is second hears of the first; nobody fails."""
    shop = racing_shop
    for number in range(12):
        run_id = flagged(shop)
        execution = {"external_execution_id": f"e{number}"}
        named = _named(shop, run_id, "attach_execution", **execution)

        def attach(named: dict[str, Any] = named) -> Any:
            return shop.run("decide_run", **named)

        def start(execution: dict[str, str] = execution) -> Any:
            return shop.run("start_run", **execution)

        attached, begun_ = race(attach, start)
        if attached.outcome == "won":
            assert (begun_.outcome, begun_.run_id) == ("replay", run_id)
        else:
            assert (attached.outcome, begun_.outcome) == ("rule_failed", "won")
            assert attached.detail["taken_by"] == str(begun_.run_id)


def test_a_statement_and_the_workflows_word_exclude_each_other(racing_shop: Shop) -> None:
    """One end; what came late is kept."""
    shop = racing_shop
    run_id = begun(shop)
    named = _named(shop, run_id, "declare_ended", statement="gone")
    decided, completed = race(
        lambda: shop.run("decide_run", **named),
        lambda: shop.run("complete_run", run_id=run_id, result={"ok": 1}),
    )
    assert {decided.outcome, completed.outcome} in (
        {"won", "already_terminal"},
        {"won", "already_decided"},
    )
    assert row(shop, run_id)["status"] == ("cancelled" if decided.outcome == "won" else "completed")
