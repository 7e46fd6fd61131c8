"""take_outbox: each due message to one relay at a time, and none is ever lost."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.factories import Shop, in_review
from tests.support.messages import due, given_up, put, take
from tests.support.races import race_rounds


def test_a_due_message_is_taken_with_all_it_says(shop: Shop) -> None:
    """Its attempt counts from here; it comes back by itself if nothing is heard of it."""
    put(shop)
    (taken,) = shop.call_many("take_outbox")
    row = shop.row("outbox", taken.outbox_id)
    assert (taken.topic, taken.subject, taken.key) == (
        "conflict.decided",
        "conflict:1",
        "conflict:1#1",
    )
    assert (taken.payload, taken.attempts, taken.workflow) == ({"n": 1}, 1, "shop")
    assert taken.created_at == row["created_at"]
    assert row["next_attempt_at"] - row["created_at"] > timedelta(seconds=29)


def test_an_operation_announces_what_it_did(sql_shop: Shop) -> None:
    """A conflict that opens says so in its own transaction."""
    in_review(sql_shop)
    (taken,) = take(sql_shop)
    (conflict,) = sql_shop.rows("conflicts")
    assert (taken.topic, taken.payload["conflict_id"]) == ("review.opened", conflict["id"])


def test_what_is_not_due_or_over_stays(sql_shop: Shop) -> None:
    """Later, published, dropped, given up, or taken a moment ago."""
    shop = sql_shop
    given_up(shop, 9)
    for n, column in ((1, "published_at"), (2, "dropped_at"), (3, "given_up_at")):
        put(shop, n, **{column: datetime.now(UTC)})
    put(shop, 4)
    shop.owner.execute(
        "UPDATE outbox SET next_attempt_at = clock_timestamp() + interval '1 minute'"
        " WHERE key = 'conflict:4#1'"
    )
    put(shop, 5)
    assert [taken.key for taken in take(shop)] == ["conflict:5#1"]
    (empty,) = shop.call_many("take_outbox")
    assert (empty.outcome, empty.outbox_id) == ("empty", None)


def test_a_message_comes_back_later_and_later(sql_shop: Shop) -> None:
    """Whether its relay died or failed; never later than ten minutes."""
    shop = sql_shop
    put(shop)
    waits = []
    for attempt in range(1, 9):
        due(shop)
        (taken,) = take(shop)
        assert taken.attempts == attempt
        (row,) = shop.owner.execute(
            "SELECT extract(epoch FROM next_attempt_at - clock_timestamp()) FROM outbox"
        ).fetchone() or (0,)
        waits.append(round(float(row) / 30))
    assert waits == [1, 2, 4, 8, 16, 20, 20, 20]


def test_the_oldest_comes_first(sql_shop: Shop) -> None:
    """As many as were asked for."""
    shop = sql_shop
    for n in range(5):
        put(shop, n)
        shop.owner.execute(
            "UPDATE outbox SET created_at = created_at - make_interval(mins => %s) WHERE key = %s",
            [n, f"conflict:{n}#1"],
        )
    assert [t.payload["n"] for t in take(shop, limit=2)] == [4, 3]
    assert [t.payload["n"] for t in take(shop, limit=500)] == [2, 1, 0]


def test_racing_relays_take_each_message_once(racing_shop: Shop) -> None:
    """None waits for another, none takes what another has."""
    shop = racing_shop

    def refill(round_: int) -> None:
        for n in range(12):
            put(shop, round_ * 100 + n)

    def relay(_round: int) -> list[Any]:
        return [taken.key for taken in take(shop, limit=5)]

    for answers in race_rounds(6, *[relay] * 4, between=refill):
        taken = [key for keys in answers for key in keys]
        assert len(taken) == len(set(taken))
        taken += [t.key for t in take(shop)]
        assert len(set(taken)) == 12
