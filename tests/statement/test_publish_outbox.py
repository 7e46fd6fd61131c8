"""publish_outbox: a message ends once it is published, and waits for a person when it cannot be."""

from typing import Any

from tests.support.factories import Shop
from tests.support.messages import due, grow_old, put, take
from tests.support.races import race


def _publish(shop: Shop, taken: Any, **more: Any) -> Any:
    return shop.call("publish_outbox", outbox_id=taken.outbox_id, attempts=taken.attempts, **more)


def test_a_published_message_is_over(shop: Shop) -> None:
    """And its repeat changes nothing."""
    put(shop)
    (taken,) = take(shop)
    won = _publish(shop, taken)
    row = shop.row("outbox", taken.outbox_id)
    assert (won.outcome, row["published_at"] is None) == ("won", False)
    assert _publish(shop, taken).outcome == "replay"
    assert _publish(shop, taken, error="late").outcome == "replay"
    due(shop)
    assert (take(shop), shop.row("outbox", taken.outbox_id)["published_at"]) == (
        [],
        row["published_at"],
    )


def test_a_message_that_failed_is_tried_again_until_its_horizon(sql_shop: Shop) -> None:
    """After that it waits for a person, with what went wrong."""
    shop = sql_shop
    put(shop)
    (taken,) = take(shop)
    failed = _publish(shop, taken, error="connection refused")
    assert (failed.outcome, failed.given_up) == ("won", False)
    due(shop)
    grow_old(shop)
    (taken,) = take(shop)
    failed = _publish(shop, taken, error="connection refused")
    row = shop.row("outbox", taken.outbox_id)
    assert (failed.outcome, failed.given_up, row["last_error"]) == (
        "won",
        True,
        "connection refused",
    )
    assert row["waiting_since"] is not None
    due(shop)
    assert take(shop) == []


def test_a_relay_that_lost_its_attempt_reports_no_failure(sql_shop: Shop) -> None:
    """Another one has the message; but whoever published it did."""
    shop = sql_shop
    put(shop)
    (first,) = take(shop)
    due(shop)
    (second,) = take(shop)
    assert _publish(shop, first, error="timed out").outcome == "lost_claim"
    assert shop.row("outbox", first.outbox_id)["last_error"] is None
    assert _publish(shop, first).outcome == "won"
    assert _publish(shop, second).outcome == "replay"


def test_a_message_that_is_not_there(sql_shop: Shop) -> None:
    """And an attempt no relay can have made."""
    shop = sql_shop
    assert shop.call("publish_outbox", outbox_id=9, attempts=1).outcome == "lost_claim"
    row = put(shop)
    lost = shop.call("publish_outbox", outbox_id=row["id"], attempts=10**17, error="x")
    assert lost.outcome == "lost_claim"


def test_a_success_and_a_failure_at_once_end_as_a_success(racing_shop: Shop) -> None:
    """At least once means: published is published."""
    shop = racing_shop
    for n in range(8):
        put(shop, n)
        (taken,) = take(shop)
        named = {"outbox_id": taken.outbox_id, "attempts": taken.attempts}
        race(
            lambda named=named: shop.run("publish_outbox", **named),
            lambda named=named: shop.run("publish_outbox", **named, error="timed out"),
        )
        assert shop.row("outbox", taken.outbox_id)["published_at"] is not None
