"""Messages of the outbox for tests."""

from typing import Any

from tests.support.factories import SHOP, SWEEPER, Shop, insert


def put(shop: Shop, n: int = 1, **columns: Any) -> dict[str, Any]:
    """Put a message into the outbox and return its row."""
    named = {
        "topic": "conflict.decided",
        "subject": f"conflict:{n}",
        "key": f"conflict:{n}#1",
        "workflow": SHOP,
        "payload": {"n": n},
    }
    insert(shop.owner, "outbox", **named | columns)
    return shop.rows("outbox")[-1]


def take(shop: Shop, **more: Any) -> list[Any]:
    """Take what is due."""
    rows = shop.door.call_many("take_outbox", actor=SWEEPER, **more)
    return [row for row in rows if row.outcome == "won"]


def due(shop: Shop) -> None:
    """Let every message be due now."""
    shop.owner.execute("UPDATE outbox SET next_attempt_at = clock_timestamp()")


def grow_old(shop: Shop, seconds: float = 1801) -> None:
    """Let every message be older than the horizon in which it is tried."""
    shop.owner.execute(
        "UPDATE outbox SET created_at = created_at - make_interval(secs => %s)", [seconds]
    )


def given_up(shop: Shop, n: int = 1) -> dict[str, Any]:
    """Return a message that failed too long and waits for a person."""
    put(shop, n)
    grow_old(shop)
    (taken,) = take(shop)
    answer = shop.run(
        "publish_outbox", outbox_id=taken.outbox_id, attempts=taken.attempts, error="refused"
    )
    assert answer.given_up, answer
    return shop.row("outbox", taken.outbox_id)
