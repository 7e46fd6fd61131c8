"""decide_batch: a person ends a stalled batch, or says that a failed one was seen."""

from typing import Any

import pytest

from tests.support.batches import Batch, row, run_out, started
from tests.support.factories import Shop
from tests.support.races import race


def _decide(shop: Shop, batch: Batch, decision: str, **more: Any) -> Any:
    version = row(shop, batch)["lock_version"]
    named = {"batch_id": batch.batch_id, "lock_version": version, "decision": decision}
    return shop.call("decide_batch", **named | {"reason": "seen", "actor": "anna"} | more)


def _stalled(shop: Shop) -> Batch:
    batch = started(shop)
    run_out(shop)
    shop.run("promote_conflicts")
    assert row(shop, batch)["waiting_since"] is not None
    return batch


def _failed(shop: Shop) -> Batch:
    batch = started(shop)
    shop.run("finish_batch", **batch.mine, status="failed", error="row 37")
    return batch


@pytest.mark.parametrize(
    ("make", "decision", "error"),
    [(_stalled, "mark_failed", "seen"), (_failed, "acknowledge", "row 37")],
)
def test_a_person_ends_the_wait(shop: Shop, make: Any, decision: str, error: str) -> None:
    """It leaves the queue, and is not stamped again by the next tick."""
    batch = make(shop)
    won = _decide(shop, batch, decision)
    assert (won.outcome, won.status) == ("won", "failed")
    shop.run("promote_conflicts")
    after = row(shop, batch)
    assert (after["acked_by"], after["waiting_since"], after["last_error"]) == (
        "anna",
        None,
        error,
    )


def test_a_worker_that_comes_back_lost_the_batch(shop: Shop) -> None:
    """It was called failed; whoever starts next goes on from its cursor."""
    batch = _stalled(shop)
    _decide(shop, batch, "mark_failed")
    lost = shop.call("advance_batch", **batch.mine, expected_cursor=None, new_cursor="1", n=1)
    assert lost.outcome == "held_by_other"


@pytest.mark.parametrize(
    ("make", "decision"),
    [(started, "mark_failed"), (started, "acknowledge"), (_failed, "mark_failed")],
)
def test_a_decision_fits_the_batch(shop: Shop, make: Any, decision: str) -> None:
    """A batch somebody works is not ended, a failed one not failed again."""
    batch = make(shop)
    before = row(shop, batch)
    assert _decide(shop, batch, decision).outcome == "bad_transition"
    assert row(shop, batch) == before


def test_nothing_is_decided_twice_or_without_a_reason(shop: Shop) -> None:
    """Nor about a batch that is complete, or was never begun, or moved since it was shown."""
    batch = _failed(shop)
    refused = _decide(shop, batch, "acknowledge", reason=" ")
    assert (refused.outcome, refused.detail["needs"]) == ("rule_failed", "reason")
    version = row(shop, batch)["lock_version"]
    assert _decide(shop, batch, "acknowledge").outcome == "won"
    again = _decide(shop, batch, "acknowledge", actor="bert")
    assert (again.outcome, again.detail["resolved_by"]) == ("already_decided", "anna")
    repeat = _decide(shop, batch, "acknowledge", lock_version=version)
    assert repeat.outcome == "already_decided"
    assert _decide(shop, batch, "acknowledge", batch_id=999).outcome == "invalid"
    moved = _failed(shop)
    assert _decide(shop, moved, "acknowledge", lock_version=1).outcome == "already_decided"
    other = started(shop)
    shop.run("finish_batch", **other.mine, status="complete")
    assert _decide(shop, other, "mark_failed").outcome == "already_decided"


def test_two_people_decide_once(racing_shop: Shop) -> None:
    """The other hears who did."""
    shop = racing_shop
    batch = _stalled(shop)
    version = row(shop, batch)["lock_version"]

    def decide(who: str) -> Any:
        named = {"batch_id": batch.batch_id, "lock_version": version, "actor": who}
        return shop.run("decide_batch", **named, decision="mark_failed", reason="stalled")

    answers = race(lambda: decide("anna"), lambda: decide("bert"))
    assert sorted(a.outcome for a in answers) == ["already_decided", "won"]
