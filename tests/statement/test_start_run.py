"""start_run: an execution is remembered once, so that it can be looked up in the engine."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import OTHER, SHOP, Shop, claimed
from tests.support.races import race
from tests.support.runs import begun, row


def test_a_run_is_remembered_with_its_execution_and_deadline(shop: Shop) -> None:
    """The execution that calls is the default."""
    job = claimed(shop)
    won = shop.call(
        "start_run", execution_id="81", instance="main", job_id=job.job_id, deadline_seconds=60
    )
    run = row(shop, won.run_id)
    assert (won.outcome, won.status, won.detail) == ("won", "running", None)
    assert (run["workflow"], run["instance"], run["external_execution_id"], run["job_id"]) == (
        SHOP,
        "main",
        "81",
        job.job_id,
    )
    assert 59 < (run["deadline_at"] - run["started_at"]).total_seconds() < 61
    assert run["deadline_at"] == won.deadline_at


def test_a_deadline_is_the_callers_or_the_workflows_or_none(shop: Shop) -> None:
    """Nobody ends a run that has no limit."""
    assert shop.call("start_run", execution_id="1").deadline_at is None
    shop.owner.execute("UPDATE workflows SET max_runtime_seconds = 3600")
    won = shop.call("start_run", execution_id="2")
    run = row(shop, won.run_id)
    assert 3599 < (run["deadline_at"] - run["started_at"]).total_seconds() < 3601


def test_the_named_execution_outweighs_the_callers(shop: Shop) -> None:
    """A workflow may start a run for another execution of its own."""
    won = shop.call("start_run", execution_id="81", external_execution_id="99")
    assert row(shop, won.run_id)["external_execution_id"] == "99"


@pytest.mark.parametrize("by", ["run_id", "execution"])
def test_the_same_run_again_is_a_replay(shop: Shop, by: str) -> None:
    """By the id the caller made, or by its execution; nothing is begun again."""
    named = {"run_id": uuid4()} if by == "run_id" else {"execution_id": "7", "instance": "main"}
    first = shop.call("start_run", **named)
    before = shop.rows("runs")
    again = shop.call("start_run", **named)
    assert (again.outcome, again.run_id) == ("replay", first.run_id)
    assert shop.rows("runs") == before


def test_a_run_with_neither_cannot_be_repeated(shop: Shop) -> None:
    """And the answer says so."""
    first, second = shop.call("start_run"), shop.call("start_run")
    assert {first.outcome, second.outcome} == {"won"}
    assert first.run_id != second.run_id
    assert first.detail == {"unrepeatable": True}


def test_the_same_execution_of_another_instance_is_another_run(shop: Shop) -> None:
    """Two servers count from one."""
    one = shop.call("start_run", execution_id="7", instance="a")
    two = shop.call("start_run", execution_id="7", instance="b")
    assert (two.outcome, one.run_id == two.run_id) == ("won", False)


def test_the_callers_own_id_outweighs_an_execution(shop: Shop) -> None:
    """Both are known, as different runs: the id that was made for it is meant."""
    mine = begun(shop, external_execution_id="1")
    begun(shop, external_execution_id="2")
    again = shop.call("start_run", run_id=mine, external_execution_id="2")
    assert (again.outcome, again.run_id) == ("replay", mine)


def test_a_strangers_run_is_not_shown(shop: Shop) -> None:
    """Neither its id nor its state."""
    mine = begun(shop, external_execution_id="1")
    for named in ({"run_id": mine}, {"external_execution_id": "1"}):
        refused = shop.call("start_run", **named, workflow=OTHER)
        assert (refused.outcome, refused.run_id, refused.status) == ("wrong_role", None, None)


def test_racing_starts_of_one_execution_are_one_run(racing_shop: Shop) -> None:
    """Everybody hears the same id."""
    shop = racing_shop

    def start() -> Any:
        return shop.run("start_run", execution_id="7")

    answers = race(*[start] * 6)
    assert sorted(a.outcome for a in answers) == [*["replay"] * 5, "won"]
    assert len({a.run_id for a in answers}) == len(shop.rows("runs")) == 1
