"""decide_outbox: a person has a message that was given up tried again, or drops it."""

from typing import Any

import pytest

from tests.support.factories import Shop
from tests.support.messages import given_up, put, take
from tests.support.races import race


def _named(row: dict[str, Any], decision: str, **more: Any) -> dict[str, Any]:
    named = {"outbox_id": row["id"], "lock_version": row["lock_version"], "decision": decision}
    return named | {"reason": "looked", "actor": "anna"} | more


def test_a_message_is_tried_again(shop: Shop) -> None:
    """At once, and it leaves the queue; it waits again when it fails again."""
    row = given_up(shop)
    won = shop.call("decide_outbox", **_named(row, "retry"))
    after = shop.row("outbox", row["id"])
    assert (won.outcome, after["given_up_at"], after["waiting_since"]) == ("won", None, None)
    (taken,) = take(shop)
    failed = shop.run(
        "publish_outbox", outbox_id=row["id"], attempts=taken.attempts, error="still refused"
    )
    assert failed.given_up


def test_a_message_is_dropped(shop: Shop) -> None:
    """Nobody sends it, and nobody waits for it."""
    row = given_up(shop)
    won = shop.call("decide_outbox", **_named(row, "drop"))
    after = shop.row("outbox", row["id"])
    assert (won.outcome, after["dropped_at"] is None, after["waiting_since"]) == (
        "won",
        False,
        None,
    )
    assert take(shop) == []


@pytest.mark.parametrize("decision", ["retry", "drop"])
def test_nothing_is_decided_twice_or_without_a_reason(shop: Shop, decision: str) -> None:
    """Nor about a message that was never given up, or is not there."""
    row = given_up(shop)
    refused = shop.call("decide_outbox", **_named(row, decision, reason=" "))
    assert (refused.outcome, refused.detail["needs"]) == ("rule_failed", "reason")
    assert shop.row("outbox", row["id"]) == row
    assert shop.call("decide_outbox", **_named(row, decision)).outcome == "won"
    before = shop.row("outbox", row["id"])
    for repeat in (row, before):
        again = shop.call("decide_outbox", **_named(repeat, decision, actor="bert"))
        assert again.outcome == "already_decided"
    assert shop.row("outbox", row["id"]) == before
    fresh = put(shop, 2)
    assert shop.call("decide_outbox", **_named(fresh, decision)).outcome == "already_decided"
    unknown = _named(row, decision, outbox_id=999)
    assert shop.call("decide_outbox", **unknown).outcome == "invalid"


def test_a_page_that_is_out_of_date_decides_nothing(shop: Shop) -> None:
    """The message was tried again and given up again since it was shown."""
    row = given_up(shop)
    assert shop.call("decide_outbox", **_named(row, "retry")).outcome == "won"
    (taken,) = take(shop)
    named = {"outbox_id": row["id"], "attempts": taken.attempts}
    assert shop.run("publish_outbox", **named, error="still refused").given_up
    before = shop.row("outbox", row["id"])
    assert shop.call("decide_outbox", **_named(row, "drop")).outcome == "already_decided"
    assert shop.row("outbox", row["id"]) == before


def test_two_people_decide_once(racing_shop: Shop) -> None:
    """The other hears that it is decided."""
    shop = racing_shop
    row = given_up(shop)
    answers = race(
        lambda: shop.run("decide_outbox", **_named(row, "retry", actor="anna")),
        lambda: shop.run("decide_outbox", **_named(row, "drop", actor="bert")),
    )
    assert sorted(a.outcome for a in answers) == ["already_decided", "won"]
