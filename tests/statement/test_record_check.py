"""record_check: a look that came to an end fires its alerts, ends the others, and is alive."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.factories import Shop, insert
from tests.support.races import race, race_rounds

NAME = "outbox_age"
START = datetime(2026, 11, 30, 9, tzinfo=UTC)
OLD = {"dedupe_key": "oldest", "severity": "warn", "value": 130, "threshold": 120}
STUCK = {"dedupe_key": "stuck", "severity": "page"}


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """Give a shop whose outbox is looked at."""
    _register(shop)
    return shop


def _register(shop: Shop) -> None:
    insert(
        shop.owner,
        "checks",
        name=NAME,
        query_name="outbox_oldest",
        interval_seconds=60,
        jitter_seconds=15,
    )


def _named(minute: int = 0, *alerts: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = {"actor": "monitor-1", "name": NAME, "started_at": START + timedelta(minutes=minute)}
    return named | {"ok": True, "matched": len(alerts), "alerts": list(alerts)} | more


def _look(shop: Shop, minute: int = 0, *alerts: dict[str, Any], **more: Any) -> Any:
    return shop.call("record_check", **_named(minute, *alerts, **more))


def _living(shop: Shop) -> dict[str, dict[str, Any]]:
    rows = [row for row in shop.rows("alerts") if row["state"] != "resolved"]
    assert len({row["dedupe_key"] for row in rows}) == len(rows)
    return {row["dedupe_key"]: row for row in rows}


# -- the winning side ----------------------------------------------------------------------------


def test_a_look_fires_what_it_found_and_is_alive(shop: Shop) -> None:
    """The proof of life is the check's own, with the bound a watcher needs."""
    won = _look(shop, 0, OLD, STUCK, floor_seen=50, detail={"oldest": 7}, host="a")
    assert (won.outcome, won.fired, won.resolved, won.detail) == ("won", 2, 0, None)
    (run,) = shop.rows("check_runs")
    assert (run["check"], run["ok"], run["matched"], run["floor_seen"]) == (NAME, True, 2, 50)
    assert run["detail"] == {"oldest": 7}
    living = _living(shop)
    assert {key: row["severity"] for key, row in living.items()} == {
        "oldest": "warn",
        "stuck": "page",
    }
    assert (living["oldest"]["value"], living["oldest"]["threshold"]) == (130, 120)
    (alive,) = shop.rows("liveness")
    assert (alive["name"], alive["interval_seconds"], alive["jitter_seconds"], alive["host"]) == (
        f"check:{NAME}",
        60,
        15,
        "a",
    )
    assert alive["last_success_at"] >= run["finished_at"]


def test_what_fires_on_keeps_its_row(shop: Shop) -> None:
    """With its beginning; only what a person would read changes."""
    _look(shop, 0, OLD)
    before = _living(shop)["oldest"]
    again = _look(shop, 1, OLD | {"value": 190})
    now = _living(shop)["oldest"]
    assert (again.fired, again.resolved, now["id"]) == (1, 0, before["id"])
    assert (now["value"], now["first_at"], now["version"]) == (190, before["first_at"], 1)
    assert now["last_at"] > before["last_at"]


def test_what_is_found_no_more_is_over_and_begins_anew(shop: Shop) -> None:
    """Over is final."""
    _look(shop, 0, OLD, STUCK)
    ended = _look(shop, 1, STUCK)
    assert (ended.fired, ended.resolved) == (1, 1)
    assert (set(_living(shop)), len(shop.rows("alerts", state="resolved"))) == ({"stuck"}, 1)
    _look(shop, 2, OLD)
    assert set(_living(shop)) == {"oldest"}
    assert len(shop.rows("alerts", dedupe_key="oldest")) == 2


def test_the_alerts_of_other_checks_are_none_of_its_business(shop: Shop) -> None:
    """A look ends its own only."""
    insert(shop.owner, "alerts", check="other", dedupe_key="x", severity="page")
    _look(shop)
    assert set(_living(shop)) == {"x"}


def test_a_note_taken_of_a_warning_is_none_of_the_page_after_it(shop: Shop) -> None:
    """The warning is over, the page is new; a page that sinks to a warning stays seen."""
    _look(shop, 0, OLD)
    seen = {"reason": "on it", "actor": "anna"}
    shop.run("acknowledge_alert", alert_id=_living(shop)["oldest"]["id"], **seen)
    assert (_look(shop, 1, OLD).resolved, _living(shop)["oldest"]["state"]) == (0, "acked")
    page = _look(shop, 2, OLD | {"severity": "page"})
    now = _living(shop)["oldest"]
    assert (page.resolved, now["state"], now["severity"]) == (1, "firing", "page")
    shop.run("acknowledge_alert", alert_id=now["id"], **seen)
    _look(shop, 3, OLD)
    assert (_living(shop)["oldest"]["state"], _living(shop)["oldest"]["version"]) == ("acked", 3)


# -- the losing side -----------------------------------------------------------------------------


def test_a_look_that_broke_decides_nothing_and_is_no_life(shop: Shop) -> None:
    """Nobody knows what it would have found."""
    _look(shop, 0, OLD)
    alive = shop.rows("liveness")
    broke = _look(shop, 1, ok=False, matched=None, detail={"error": "timeout"})
    assert (broke.outcome, broke.fired, broke.resolved) == ("won", None, None)
    assert (set(_living(shop)), shop.rows("liveness")) == ({"oldest"}, alive)
    assert [row["ok"] for row in shop.rows("check_runs")] == [True, False]


def test_the_same_look_again_is_a_replay(shop: Shop) -> None:
    """Whatever it says now."""
    _look(shop, 0, OLD)
    again = _look(shop, 0)
    assert (again.outcome, again.fired) == ("replay", None)
    assert (set(_living(shop)), len(shop.rows("check_runs"))) == ({"oldest"}, 1)


def test_a_look_that_comes_late_decides_nothing(shop: Shop) -> None:
    """It began before one whose word stands."""
    _look(shop, 5, OLD)
    alive = shop.rows("liveness")
    late = _look(shop, 4)
    assert (late.outcome, late.fired, late.detail) == ("won", None, {"late": True})
    assert (set(_living(shop)), shop.rows("liveness")) == ({"oldest"}, alive)
    assert len(shop.rows("check_runs")) == 2


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"name": "no such check"}, "name"),
        ({"alerts": [7]}, "alerts[0]"),
        ({"alerts": [OLD, {"severity": "page"}]}, "alerts[1].dedupe_key"),
        ({"alerts": [OLD | {"severity": "panic"}]}, "alerts[0].severity"),
        ({"alerts": [OLD | {"value": "much"}]}, "alerts[0].value"),
        ({"alerts": [OLD, OLD]}, "alerts[1].dedupe_key"),
        ({"alerts": [OLD | {"more": 1}]}, "alerts[0].more"),
        ({"ok": "yes"}, "ok"),
    ],
)
def test_what_cannot_be_recorded_is_named(shop: Shop, wrong: dict[str, Any], path: str) -> None:
    """And nothing is written."""
    refused = _look(shop, **wrong)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", path)
    assert (shop.rows("check_runs"), shop.rows("alerts"), shop.rows("liveness")) == ([], [], [])


# -- races ---------------------------------------------------------------------------------------


def test_of_two_looks_at_once_the_later_one_decides(racing_shop: Shop) -> None:
    """In whichever order they arrive, and with one living alert for each key."""
    shop = racing_shop
    _register(shop)
    for number in range(8):
        early, late = 2 * number, 2 * number + 1
        race(
            lambda at=early: shop.run("record_check", **_named(at, OLD, STUCK)),
            lambda at=late: shop.run("record_check", **_named(at, OLD)),
        )
        assert set(_living(shop)) == {"oldest"}
    assert len(shop.rows("check_runs")) == 16


def test_one_look_recorded_by_two_is_recorded_once(racing_shop: Shop) -> None:
    """A repeat may overtake the answer it repeats."""
    shop = racing_shop
    _register(shop)
    rounds = race_rounds(8, *[lambda n: shop.run("record_check", **_named(n, OLD))] * 2)
    assert [sorted(answer.outcome for answer in each) for each in rounds] == [["replay", "won"]] * 8
    assert len(shop.rows("alerts")) == 1
