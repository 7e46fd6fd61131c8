"""start_batch: one running batch a workflow, taken up where it stopped and never begun anew."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.batches import advance, row, run_out, started
from tests.support.factories import OTHER, SHOP, Shop
from tests.support.races import race, race_rounds

# -- the winning side ----------------------------------------------------------------------------


def test_a_new_batch_starts_from_nothing(shop: Shop) -> None:
    """With a token and a lease of the policy's length."""
    won = shop.call("start_batch", workflow_name=SHOP)
    assert (won.outcome, won.last_cursor, won.items_processed, won.chunk_no) == ("won", None, 0, 0)
    (batch,) = shop.rows("batch_runs")
    assert (batch["id"], batch["status"], batch["guarded"]) == (won.batch_id, "running", True)
    assert batch["owner_token"] == won.owner_token
    assert 599 < (won.lease_expires_at - batch["started_at"]).total_seconds() < 601


def test_its_own_name_is_enough(sql_shop: Shop) -> None:
    """``workflow_name`` alone says who calls."""
    won = sql_shop.door.call("start_batch", workflow_name=SHOP)
    assert won.outcome == "won"
    (batch,) = sql_shop.rows("batch_runs")
    assert batch["workflow_name"] == SHOP


@pytest.mark.parametrize("end", ["lease", "failed"])
def test_a_batch_that_stopped_is_taken_up_at_its_cursor(shop: Shop, end: str) -> None:
    """Killed after its third chunk of ten, it goes on with the fourth."""
    batch = started(shop)
    for chunk in range(3):
        before = None if chunk == 0 else str(chunk)
        assert advance(shop, batch, before, str(chunk + 1), 100).outcome == "won"
    if end == "lease":
        run_out(shop)
    else:
        shop.run("finish_batch", **batch.mine, status="failed", error="killed")
    taken = shop.call("start_batch")
    assert (taken.outcome, taken.detail["taken_over"]) == ("matched", True)
    assert (taken.batch_id, taken.last_cursor, taken.items_processed) == (batch.batch_id, "3", 300)
    assert taken.owner_token != batch.token
    after = row(shop, batch)
    assert (after["status"], after["completed_at"], after["waiting_since"]) == (
        "running",
        None,
        None,
    )
    late = advance(shop, batch, "3", "4", 100)
    assert (late.outcome, late.items_processed) == ("held_by_other", 300)


@pytest.mark.parametrize("decision", ["mark_failed", "acknowledge"])
def test_a_batch_a_person_looked_at_is_still_taken_up(shop: Shop, decision: str) -> None:
    """Somebody saw it; its items must not be worked again from the first."""
    batch = started(shop)
    advance(shop, batch, None, "1")
    if decision == "acknowledge":
        shop.run("finish_batch", **batch.mine, status="failed")
    run_out(shop)
    shop.run(
        "decide_batch",
        batch_id=batch.batch_id,
        lock_version=row(shop, batch)["lock_version"],
        decision=decision,
        reason="seen",
    )
    taken = shop.call("start_batch")
    assert (taken.outcome, taken.last_cursor) == ("matched", "1")
    assert row(shop, batch)["acked_at"] is None


def test_a_finished_batch_is_followed_by_a_new_one(shop: Shop) -> None:
    """The next night starts from nothing, also with failed ones long before it."""
    batch = started(shop)
    advance(shop, batch, None, "1")
    shop.run("finish_batch", **batch.mine, status="complete")
    won = shop.call("start_batch")
    assert (won.outcome, won.last_cursor, won.batch_id > batch.batch_id) == ("won", None, True)


def test_another_workflow_has_its_own(shop: Shop) -> None:
    """One batch each."""
    started(shop)
    assert shop.call("start_batch", workflow=OTHER).outcome == "won"


# -- the losing side and the repeat --------------------------------------------------------------


def test_the_second_hears_until_when_it_is_held(shop: Shop) -> None:
    """And nothing of the cursor or the token."""
    batch = started(shop)
    advance(shop, batch, None, "1")
    lost = shop.call("start_batch")
    assert (lost.outcome, lost.batch_id) == ("held_by_other", batch.batch_id)
    assert lost.lease_expires_at == row(shop, batch)["lease_expires_at"]
    assert (lost.owner_token, lost.last_cursor) == (None, None)


def test_the_same_token_is_the_same_batch(shop: Shop) -> None:
    """A reply was lost: the caller's own token finds what it began, and renews nothing."""
    token = uuid4()
    first = shop.call("start_batch", owner_token=token)
    before = shop.rows("batch_runs")
    again = shop.call("start_batch", owner_token=token)
    assert (again.outcome, again.detail["resumed"]) == ("won", True)
    assert (again.batch_id, again.owner_token) == (first.batch_id, token)
    assert shop.rows("batch_runs") == before


def test_a_workflow_starts_no_batch_of_another(shop: Shop) -> None:
    """Its name is not a matter of the argument."""
    refused = shop.call("start_batch", workflow_name=OTHER)
    assert (refused.outcome, shop.rows("batch_runs")) == ("wrong_role", [])


# -- races ---------------------------------------------------------------------------------------


def test_one_of_many_starts_it(racing_shop: Shop) -> None:
    """The others hear that it is held."""
    shop = racing_shop

    def start() -> Any:
        return shop.run("start_batch")

    answers = race(*[start] * 6)
    assert sorted(a.outcome for a in answers) == [*["held_by_other"] * 5, "won"]
    assert len(shop.rows("batch_runs")) == 1


def test_one_of_two_takes_it_over(racing_shop: Shop) -> None:
    """Round after round, each with its own token."""
    shop = racing_shop
    started(shop)

    def start(_round: int) -> Any:
        return shop.run("start_batch")

    for answers in race_rounds(15, start, start, between=lambda _round: run_out(shop)):
        assert sorted(a.outcome for a in answers) == ["held_by_other", "matched"]
    (batch,) = shop.rows("batch_runs")
    assert batch["lock_version"] == 16
