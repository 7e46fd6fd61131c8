"""mark_field_sensitive: what no machine merges or retries, whichever workflow writes it."""

from typing import Any

from tests.support import desk
from tests.support.factories import Shop
from tests.support.races import inner_doors, race


def _mark(shop: Shop, sensitive: bool, field: str = "plan") -> Any:
    return shop.call(
        "mark_field_sensitive",
        target="customers",
        field=field,
        sensitive=sensitive,
        reason="money",
    )


def _sensitive(shop: Shop) -> list[bool]:
    return [row["sensitive"] for row in shop.rows("field_ownership", field="plan")]


def test_it_is_sensitive_for_everybody_who_writes_it(shop: Shop) -> None:
    """Two workflows share it; a loss goes to a person at once."""
    desk.open_shop(shop.owner)
    won = _mark(shop, sensitive=True)
    assert (won.outcome, won.n, _sensitive(shop)) == ("won", 2, [True, True])
    assert desk.write(desk.BILLING, "b1", 1, seats=5).outcome == "won"
    lost = desk.write(desk.FORM, "f1", 1, plan="pro")
    assert (lost.outcome, lost.conflict_state) == ("stale_version", "open")


def test_it_can_be_taken_back_and_repeated(shop: Shop) -> None:
    """The same again changes nothing."""
    desk.open_shop(shop.owner)
    _mark(shop, sensitive=True)
    assert _mark(shop, sensitive=True).outcome == "replay"
    assert (_mark(shop, sensitive=False).outcome, _sensitive(shop)) == ("won", [False, False])


def test_a_field_nobody_owns(shop: Shop) -> None:
    """Nothing is marked for later."""
    desk.open_shop(shop.owner)
    refused = _mark(shop, sensitive=True, field="colour")
    assert (refused.outcome, refused.n) == ("rule_failed", 0)


@inner_doors
def test_marked_at_once_it_is_marked_once(racing_shop: Shop) -> None:
    """By whom is on record; the others changed nothing."""
    desk.open_shop(racing_shop.owner)
    mark = {"target": "customers", "field": "plan", "sensitive": True, "reason": "money"}
    answers = race(*[lambda: racing_shop.run("mark_field_sensitive", **mark)] * 4)
    assert sorted(answer.outcome for answer in answers) == ["replay", "replay", "replay", "won"]
    assert _sensitive(racing_shop) == [True, True]
