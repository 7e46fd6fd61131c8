"""sign_archive_expiry: forgetting keys is a deliberate act, never before a replay may come."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.factories import Shop
from tests.support.races import inner_doors, race
from tests.support.retention import DAY

NAME = "charge-provider"


def _sign(shop: Shop, days: int, **more: Any) -> Any:
    named = {"name": NAME, "expiry_seconds": days * DAY, "reason": "agreed", "actor": "anna"}
    return shop.call("sign_archive_expiry", **named | more)


def _provider(shop: Shop) -> dict[str, Any]:
    (row,) = shop.rows("providers", name=NAME)
    return row


def test_it_is_signed_with_name_and_time(shop: Shop) -> None:
    """And can be signed anew."""
    won = _sign(shop, 400)
    row = _provider(shop)
    assert (won.outcome, won.version, row["archive_expiry"]) == ("won", 2, timedelta(days=400))
    assert (row["archive_signed_by"], row["archive_signed_at"] is None) == ("anna", False)
    assert _sign(shop, 500).version == 3


def test_the_same_signature_is_a_replay(shop: Shop) -> None:
    """Nothing changes."""
    _sign(shop, 400)
    before = _provider(shop)
    again = _sign(shop, 400, actor="bert")
    assert (again.outcome, again.version, _provider(shop)) == ("replay", 2, before)


@pytest.mark.parametrize(("days", "outcome"), [(30, "rule_failed"), (31, "won")])
def test_it_is_never_shorter_than_the_replay_horizon_with_its_margin(
    shop: Shop, days: int, outcome: str
) -> None:
    """The answer says how long it must be."""
    answer = _sign(shop, days)
    assert answer.outcome == outcome
    if outcome == "rule_failed":
        assert answer.detail["at_least_seconds"] == 31 * DAY
        assert _provider(shop)["archive_expiry"] is None


def test_an_unknown_provider(shop: Shop) -> None:
    """There is nothing to sign."""
    assert _sign(shop, 400, name="nobody").outcome == "rule_failed"


@inner_doors
def test_two_signatures_at_once_follow_each_other(racing_shop: Shop) -> None:
    """The row has days and name of the same person; the same days are signed once."""
    shop = racing_shop

    def sign(actor: str, days: int) -> Any:
        given = {"name": NAME, "expiry_seconds": days * DAY, "reason": "agreed", "actor": actor}
        return lambda: shop.run("sign_archive_expiry", **given)

    first, second = race(sign("anna", 400), sign("bert", 500))
    assert {(each.outcome, each.version) for each in (first, second)} == {("won", 2), ("won", 3)}
    signed = (_provider(shop)["archive_signed_by"], _provider(shop)["archive_expiry"].days)
    assert signed == (("anna", 400) if first.version == 3 else ("bert", 500))
    for days in range(600, 615):
        answers = race(sign("anna", days), sign("bert", days))
        assert sorted(each.outcome for each in answers) == ["replay", "won"]
