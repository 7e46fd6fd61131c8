"""finish_batch: a batch ends once, complete or failed."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.batches import advance, row, run_out, started
from tests.support.factories import OTHER, Shop
from tests.support.races import race


def test_a_complete_batch_is_over(shop: Shop) -> None:
    """With its end and what it counted."""
    batch = started(shop)
    advance(shop, batch, None, "1", 7)
    won = shop.call("finish_batch", **batch.mine, status="complete")
    assert (won.outcome, won.status, won.items_processed) == ("won", "complete", 7)
    after = row(shop, batch)
    assert (after["status"], after["completed_at"] is None, after["waiting_since"]) == (
        "complete",
        False,
        None,
    )


def test_a_failed_batch_waits_for_a_person(shop: Shop) -> None:
    """With what went wrong."""
    batch = started(shop)
    won = shop.call("finish_batch", **batch.mine, status="failed", error="row 37")
    after = row(shop, batch)
    assert (won.outcome, after["last_error"]) == ("won", "row 37")
    assert after["waiting_since"] is not None


@pytest.mark.parametrize("status", ["complete", "failed"])
def test_the_same_end_again_is_a_replay(shop: Shop, status: str) -> None:
    """Another end is not."""
    batch = started(shop)
    shop.call("finish_batch", **batch.mine, status=status)
    before = row(shop, batch)
    assert shop.call("finish_batch", **batch.mine, status=status).outcome == "replay"
    other = "failed" if status == "complete" else "complete"
    lost = shop.call("finish_batch", **batch.mine, status=other)
    assert (lost.outcome, lost.detail["status"]) == ("held_by_other", status)
    assert row(shop, batch) == before


def test_who_lost_the_batch_does_not_end_it(shop: Shop) -> None:
    """A late worker, a wrong token, a stranger, a batch that never was."""
    batch = started(shop)
    run_out(shop)
    assert shop.run("start_batch").outcome == "matched"
    before = row(shop, batch)
    assert shop.call("finish_batch", **batch.mine, status="complete").outcome == "held_by_other"
    wrong = batch.mine | {"owner_token": uuid4()}
    assert shop.call("finish_batch", **wrong, status="failed").outcome == "held_by_other"
    refused = shop.call("finish_batch", **batch.mine, status="complete", workflow=OTHER)
    assert (refused.outcome, refused.status) == ("wrong_role", None)
    nothing = batch.mine | {"batch_id": batch.batch_id + 9}
    assert shop.call("finish_batch", **nothing, status="failed").outcome == "held_by_other"
    assert row(shop, batch) == before


def test_racing_ends_end_it_once(racing_shop: Shop) -> None:
    """One of the two, and never both."""
    shop = racing_shop
    batch = started(shop)

    def finish(status: str) -> Any:
        return shop.run("finish_batch", **batch.mine, status=status)

    complete, failed = race(lambda: finish("complete"), lambda: finish("failed"))
    assert {complete.outcome, failed.outcome} == {"won", "held_by_other"}
    assert row(shop, batch)["status"] == ("complete" if complete.outcome == "won" else "failed")
