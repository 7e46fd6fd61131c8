"""acknowledge_alert: somebody has seen it; it lasts as long as what it tells of."""

from typing import Any

import pytest

from tests.support.factories import Shop, insert
from tests.support.races import race_rounds

SEEN = {"actor": "anna", "reason": "the provider is down, they know"}


def _firing(shop: Shop, key: str = "oldest") -> int:
    insert(shop.owner, "alerts", check="outbox_age", dedupe_key=key, severity="page")
    return int(shop.rows("alerts", dedupe_key=key)[-1]["id"])


def _end(shop: Shop, alert_id: int) -> None:
    shop.owner.execute(
        "UPDATE alerts SET state = 'resolved', resolved_at = clock_timestamp() WHERE id = %s",
        [alert_id],
    )


def test_it_is_seen_under_a_name_and_with_a_reason(shop: Shop) -> None:
    """And goes on."""
    alert_id = _firing(shop)
    won = shop.call("acknowledge_alert", alert_id=alert_id, version=1, **SEEN)
    assert (won.outcome, won.state, won.version) == ("won", "acked", 2)
    row = shop.row("alerts", str(alert_id))
    assert (row["state"], row["acked_by"], row["acked_at"] is None) == ("acked", "anna", False)
    (told,) = shop.rows("audit_events", op="acknowledge_alert")
    assert (told["actor_kind"], told["reason"]) == ("human", SEEN["reason"])


def test_seen_is_seen(shop: Shop) -> None:
    """The next one hears by whom, whichever version that one read."""
    alert_id = _firing(shop)
    shop.call("acknowledge_alert", alert_id=alert_id, **SEEN)
    before = shop.rows("alerts")
    again = shop.call("acknowledge_alert", alert_id=alert_id, version=1, **SEEN | {"actor": "ben"})
    assert (again.outcome, again.state, again.detail["acked_by"]) == ("replay", "acked", "anna")
    assert shop.rows("alerts") == before


def test_an_alert_that_changed_is_looked_at_again(shop: Shop) -> None:
    """A warning was read, a page is there."""
    alert_id = _firing(shop)
    stale = shop.call("acknowledge_alert", alert_id=alert_id, version=7, **SEEN)
    assert (stale.outcome, stale.state) == ("stale_version", "firing")
    assert stale.detail == {"version": 1, "severity": "page"}
    assert shop.rows("alerts")[0]["acked_by"] is None


def test_what_is_over_is_not_seen_any_more(shop: Shop) -> None:
    """Seen before or not."""
    alert_id = _firing(shop)
    _end(shop, alert_id)
    lost = shop.call("acknowledge_alert", alert_id=alert_id, **SEEN)
    assert (lost.outcome, lost.state, lost.detail["why"]) == (
        "rule_failed",
        "resolved",
        "it_is_over",
    )


@pytest.mark.parametrize(
    ("wrong", "outcome", "path"),
    [
        ({"alert_id": 10**17}, "rule_failed", "alert_id"),
        ({"reason": None}, "invalid", "reason"),
        ({"alert_id": "x"}, "invalid", "alert_id"),
    ],
)
def test_what_is_missing_is_named(
    sql_shop: Shop, wrong: dict[str, Any], outcome: str, path: str
) -> None:
    """An alert and a reason."""
    alert_id = _firing(sql_shop)
    refused = sql_shop.call("acknowledge_alert", **{"alert_id": alert_id} | SEEN | wrong)
    assert (refused.outcome, refused.detail["path"]) == (outcome, path)


def test_one_of_two_people_is_first(racing_shop: Shop) -> None:
    """The other hears the first one's name."""
    shop = racing_shop
    ids = [_firing(shop, f"alert-{n}") for n in range(12)]
    people = ["anna", "ben"]
    rounds = race_rounds(
        12,
        *[
            lambda n, who=who: shop.run(
                "acknowledge_alert", alert_id=ids[n], version=1, **SEEN | {"actor": who}
            )
            for who in people
        ],
    )
    for answers in rounds:
        assert sorted(answer.outcome for answer in answers) == ["replay", "won"]
        first, second = sorted(answers, key=lambda answer: answer.outcome != "won")
        assert second.detail["acked_by"] == people[answers.index(first)]
