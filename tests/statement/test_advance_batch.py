"""advance_batch: a chunk moves the cursor and counts its items once, whoever repeats it."""

from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

from tests.support.batches import Batch, advance, row, run_out, started, step
from tests.support.factories import BLIND, OTHER, Shop, order
from tests.support.races import race, race_rounds


def test_a_chunk_moves_the_cursor_and_renews_the_lease(shop: Shop) -> None:
    """The first from nothing, each with its number."""
    batch = started(shop)
    run_out(shop)
    won = advance(shop, batch, None, "100", 100)
    assert (won.outcome, won.last_cursor, won.items_processed, won.chunk_no) == (
        "won",
        "100",
        100,
        1,
    )
    after = row(shop, batch)
    assert after["lease_expires_at"] == won.lease_expires_at
    assert 599 < (won.lease_expires_at - after["heartbeat_at"]).total_seconds() < 601
    assert advance(shop, batch, "100", "200", 40).items_processed == 140


@pytest.mark.parametrize(
    ("first", "second"), [(7, "7"), ({"id": 7, "at": "x"}, {"at": "x", "id": 7}), ([1, 2], [1, 2])]
)
def test_a_cursor_may_be_any_value(shop: Shop, first: Any, second: Any) -> None:
    """A time with a tie-break, a page token: what is equal as JSON is equal here."""
    batch = started(shop)
    assert advance(shop, batch, None, first).outcome == "won"
    assert advance(shop, batch, second, "end").outcome == "won"


def test_a_stalled_batch_that_goes_on_leaves_the_queue(shop: Shop) -> None:
    """Nobody has to look any more."""
    batch = started(shop)
    run_out(shop)
    shop.run("promote_conflicts")
    assert row(shop, batch)["waiting_since"] is not None
    advance(shop, batch, None, "1")
    assert row(shop, batch)["waiting_since"] is None


ROWS = 100
FAILING = 37


def test_a_batch_whose_worker_dies_at_every_step_does_each_row_once(sql_shop: Shop) -> None:
    """It never hears of a moved cursor, or dies before it moves; one row fails for good."""
    shop, sent = sql_shop, Counter[int]()
    for life in range(2 * ROWS):
        batch = started(shop)
        done = int(row(shop, batch)["last_cursor"] or 0)
        if done == ROWS:
            break
        _work_one(shop, sent, done + 1)
        if life % 2:
            moved = step(batch, f"{done}" if done else None, f"{done + 1}", 1)
            assert shop.run("advance_batch", **moved).outcome == "won"
        run_out(shop)
    assert sent == Counter({number: 1 for number in range(1, ROWS + 1) if number != FAILING})
    assert row(shop, batch)["items_processed"] == row(shop, batch)["chunk_no"] == ROWS
    states = Counter(job["state"] for job in shop.rows("jobs"))
    assert states == {"done": ROWS - 1, "dead": 1}
    (letter,) = shop.rows("failed_jobs")
    assert letter["job_id"] == shop.rows("jobs", state="dead")[0]["id"]


def _work_one(shop: Shop, sent: Counter[int], number: int) -> None:
    """Claim a row, and send it where that is won; a row that is done or dead is passed by."""
    claim = shop.run("claim_job", **order(BLIND, number))
    if claim.outcome != "won":
        assert claim.outcome in {"replay", "dead_lettered"}, claim
        return
    mine = {"job_id": claim.job_id, "owner_token": claim.owner_token}
    if number == FAILING:
        shop.owner.execute("UPDATE jobs SET attempts = 99 WHERE id = %s", [claim.job_id])
        shop.run("fail_job", **mine, error="no such person", effect_state="not_started")
        return
    shop.run("mark_sending", **mine, idem_key=claim.idem_key)
    sent[number] += 1
    assert shop.run("complete_job", **mine, result=number).outcome == "won"


# -- the repeat ----------------------------------------------------------------------------------


def test_a_replayed_chunk_adds_nothing(shop: Shop) -> None:
    """The reply was lost; the answer shows where the batch is."""
    batch = started(shop)
    advance(shop, batch, None, "100", 100)
    before = row(shop, batch)
    again = advance(shop, batch, None, "100", 100)
    assert (again.outcome, again.items_processed, again.chunk_no) == ("replay", 100, 1)
    assert row(shop, batch) == before


def test_six_racing_advances_add_once(racing_shop: Shop) -> None:
    """One wins, five are replays, in every round."""
    shop = racing_shop
    batch = started(shop)

    def advance_once(number: int) -> Any:
        before = None if number == 0 else str(number)
        return shop.run("advance_batch", **step(batch, before, str(number + 1), 100))

    for answers in race_rounds(8, *[advance_once] * 6):
        assert sorted(a.outcome for a in answers) == [*["replay"] * 5, "won"]
    after = row(shop, batch)
    assert (after["items_processed"], after["chunk_no"], after["last_cursor"]) == (800, 8, "8")


# -- the losing side -----------------------------------------------------------------------------


def test_another_cursor_than_expected_writes_nothing(shop: Shop) -> None:
    """Somebody else moved it; the answer says to where."""
    batch = started(shop)
    advance(shop, batch, None, "100")
    for expected in (None, "50"):
        lost = advance(shop, batch, expected, "150")
        assert (lost.outcome, lost.last_cursor) == ("stale_version", "100")
        assert lost.detail["last_cursor"] == "100"
    assert row(shop, batch)["items_processed"] == 10


@pytest.mark.parametrize("status", ["complete", "failed"])
def test_a_batch_that_is_over_moves_no_more(shop: Shop, status: str) -> None:
    """The chunk came too late."""
    batch = started(shop)
    shop.run("finish_batch", **batch.mine, status=status)
    lost = advance(shop, batch, None, "1")
    assert (lost.outcome, lost.detail["status"]) == ("held_by_other", status)


def test_a_wrong_token_moves_nothing(shop: Shop) -> None:
    """Only who holds it counts its items."""
    batch = started(shop)
    assert advance(shop, Batch(batch.batch_id, uuid4()), None, "1").outcome == "held_by_other"
    assert advance(shop, Batch(batch.batch_id + 1, batch.token), None, "1").outcome == "lost_claim"
    assert row(shop, batch)["last_cursor"] is None


def test_a_stranger_sees_nothing_of_it(shop: Shop) -> None:
    """Not even the cursor."""
    batch = started(shop)
    advance(shop, batch, None, "secret")
    refused = shop.call("advance_batch", **step(batch, "secret", "2"), workflow=OTHER)
    assert (refused.outcome, refused.last_cursor, refused.detail.get("status")) == (
        "wrong_role",
        None,
        None,
    )


@pytest.mark.parametrize("cursor", [None, "100"])
def test_a_cursor_that_stays_is_refused(shop: Shop, cursor: Any) -> None:
    """Its items would be counted again by every repeat."""
    batch = started(shop)
    advance(shop, batch, None, "100")
    refused = advance(shop, batch, "100", cursor)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "new_cursor")
    assert row(shop, batch)["items_processed"] == 10


@pytest.mark.parametrize("n", [-1, 1.5, "many"])
def test_a_chunk_counts_whole_items(shop: Shop, n: Any) -> None:
    """Nothing is subtracted."""
    assert advance(shop, started(shop), None, "1", n).outcome == "invalid"


def test_an_advance_and_a_takeover_exclude_each_other(racing_shop: Shop) -> None:
    """Either the chunk counts and the batch is held again, or the next one goes on before it."""
    shop = racing_shop
    batch = started(shop)
    for chunk in range(10):
        run_out(shop)
        before = row(shop, batch)["last_cursor"]

        def go_on(batch: Batch = batch, before: Any = before, chunk: int = chunk) -> Any:
            return shop.run("advance_batch", **step(batch, before, f"c{chunk}"))

        moved, taken = race(go_on, lambda: shop.run("start_batch"))
        cursor = row(shop, batch)["last_cursor"]
        if moved.outcome == "won":
            assert (taken.outcome, cursor) in {
                ("held_by_other", f"c{chunk}"),
                ("matched", f"c{chunk}"),
            }
        else:
            assert (moved.outcome, taken.outcome, cursor) == ("held_by_other", "matched", before)
        if taken.outcome == "matched":
            assert taken.last_cursor == cursor
            batch = Batch(taken.batch_id, taken.owner_token)
