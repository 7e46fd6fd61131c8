"""save_baseline: what is normal, with its date; and the word of a person that it still holds."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.factories import SHOP, Shop
from tests.support.races import race, race_rounds

KEY = {"workflow": SHOP, "workflow_version": "2", "op": "claim_job", "metric": "lock_wait_ms"}
WHO = {"actor": "root", "reason": "a calm week"}
SAID = {"anchor": 4.5, "tolerance": 2}


def _save(shop: Shop, **more: Any) -> Any:
    return shop.call("save_baseline", **WHO | KEY | more)


def _row(shop: Shop) -> dict[str, Any]:
    (row,) = shop.rows("baselines")
    return row


def _age(shop: Shop) -> None:
    shop.owner.execute("UPDATE baselines SET set_at = set_at - interval '31 days'")


def test_an_anchor_has_its_date_and_who_set_it(shop: Shop) -> None:
    """Tolerance, samples and where it comes from beside it."""
    won = _save(shop, **SAID, samples=20, seeded_from="billing", seed_check={"same_tables": True})
    row = _row(shop)
    assert (won.outcome, won.version) == ("won", 1)
    assert (row["anchor"], row["tolerance"], row["samples"]) == (4.5, 2, 20)
    assert (row["set_by"], row["set_at"] is None, row["rechecked_at"]) == ("root", False, None)
    (told,) = shop.rows("audit_events", op="save_baseline")
    assert told["key"] == f"baselines:{SHOP}/2/claim_job/lock_wait_ms"
    assert (told["before"], told["after"]["anchor"], told["reason"]) == (None, 4.5, "a calm week")


def test_a_new_anchor_has_a_new_date(shop: Shop) -> None:
    """And nobody has looked at it again yet; the same number again is none."""
    _save(shop, **SAID)
    _age(shop)
    old = _row(shop)
    assert _save(shop, **SAID).outcome == "replay"
    assert _row(shop) == old
    _save(shop, recheck=True, version=1)
    won = _save(shop, anchor=6, version=2, actor="anna")
    row = _row(shop)
    assert (won.outcome, won.version, row["anchor"], row["set_by"]) == ("won", 3, 6, "anna")
    assert row["set_at"] - old["set_at"] > timedelta(days=30)
    assert (row["rechecked_at"], row["rechecked_by"]) == (None, None)


def test_it_belongs_to_one_version_of_a_workflow(shop: Shop) -> None:
    """Each version has its own; one that is carried over is wider for a time."""
    _save(shop, **SAID)
    more = {"carried_from_version": "2", "widen_factor": 3, "widen_until": "2030-01-01T00:00:00Z"}
    assert _save(shop, **SAID, **more, workflow_version="3").outcome == "won"
    assert len(shop.rows("baselines")) == 2


def test_it_still_holds(shop: Shop) -> None:
    """The date of the look is new, the anchor and its date stay."""
    _save(shop, **SAID)
    _age(shop)
    old = _row(shop)
    won = _save(shop, recheck=True, version=1, anchor=4.5, actor="anna")
    row = _row(shop)
    assert (won.outcome, won.version) == ("won", 2)
    assert (row["rechecked_by"], row["rechecked_at"] > old["set_at"]) == ("anna", True)
    kept = ("anchor", "tolerance", "set_at", "set_by")
    assert [row[name] for name in kept] == [old[name] for name in kept]
    again = _save(shop, recheck=True, version=1, actor="anna")
    assert (again.outcome, again.version, _row(shop)) == ("replay", 2, row)


# -- the losing side -----------------------------------------------------------------------------


def test_another_version_is_not_confirmed(shop: Shop) -> None:
    """Somebody else's number, or somebody else's look."""
    _save(shop, **SAID)
    _save(shop, anchor=9)
    before = _row(shop)
    stale = _save(shop, recheck=True, version=1)
    assert (stale.outcome, stale.version, stale.detail) == (
        "stale_version",
        2,
        {"version": 2, "anchor": 9},
    )
    assert _save(shop, anchor=1, version=1).outcome == "stale_version"
    assert _row(shop) == before


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"anchor": 5}, "a_recheck_changes_nothing"),
        ({"samples": 1}, "a_recheck_changes_nothing"),
        ({"metric": "other"}, "nothing_to_recheck"),
    ],
)
def test_a_look_moves_no_number(shop: Shop, more: dict[str, Any], why: str) -> None:
    """And looks at what is there."""
    _save(shop, **SAID)
    before = _row(shop)
    lost = _save(shop, recheck=True, version=1, **more)
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", why)
    assert _row(shop) == before


@pytest.mark.parametrize(
    ("more", "constraint"),
    [
        ({"anchor": -1}, "baselines_numbers_in_range"),
        ({"tolerance": 0.5}, "baselines_numbers_in_range"),
        ({"seeded_from": "billing"}, "baselines_seed_was_checked"),
        ({"carried_from_version": "1"}, "baselines_carried_is_wider"),
        ({"widen_factor": 3}, "baselines_wider_until"),
    ],
)
def test_what_contradicts_itself_is_refused(
    shop: Shop, more: dict[str, Any], constraint: str
) -> None:
    """By name."""
    refused = _save(shop, **SAID | more)
    assert (refused.outcome, refused.detail["constraint"]) == ("rule_failed", constraint)
    assert shop.rows("baselines") == []


@pytest.mark.parametrize(
    ("wrong", "outcome", "path"),
    [
        ({"anchor": "much"}, "invalid", "anchor"),
        ({"cap": True}, "invalid", "cap"),
        ({"recheck": True}, "invalid", "version"),
        ({"workflow": "nobody"}, "rule_failed", "workflow"),
        ({"anchor": None}, "rule_failed", "anchor"),
    ],
)
def test_what_is_missing_is_named(
    sql_shop: Shop, wrong: dict[str, Any], outcome: str, path: str
) -> None:
    """Nothing is stored."""
    refused = _save(sql_shop, **SAID | wrong)
    assert (refused.outcome, refused.detail["path"]) == (outcome, path)
    assert sql_shop.rows("baselines") == []


# -- races ---------------------------------------------------------------------------------------


def test_two_at_once_leave_one_row(racing_shop: Shop) -> None:
    """The second changes what the first made."""
    shop = racing_shop
    answers = race(
        *[lambda n=n: shop.run("save_baseline", **WHO | KEY | SAID, cap=n) for n in (1, 2)]
    )
    assert sorted((each.outcome, each.version) for each in answers) == [("won", 1), ("won", 2)]


def test_a_look_and_a_new_number_exclude_each_other(racing_shop: Shop) -> None:
    """What was confirmed is what was read."""
    shop = racing_shop
    _save(shop, **SAID)
    version = [1]

    def look(_round: int) -> Any:
        return shop.run("save_baseline", **WHO | KEY, recheck=True, version=version[0])

    def save(number: int) -> Any:
        return shop.run("save_baseline", **WHO | KEY, anchor=10 + number, version=version[0])

    def read(_round: int) -> None:
        version[0] = _row(shop)["version"]

    for looked, saved in race_rounds(10, look, save, between=read):
        assert {looked.outcome, saved.outcome} == {"won", "stale_version"}
