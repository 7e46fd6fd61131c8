"""daily_report: what each workflow processed and what failed on one day, live and archived."""

from typing import Any

import pytest

from tests.support.factories import Shop, completed, insert, marked
from tests.support.letters import of_nothing

DAY = "2026-03-07"


def _report(shop: Shop, **more: Any) -> dict[str, Any]:
    shop.audit.skip()
    rows = shop.door.call_many("daily_report", workflow="shop", **more)
    assert shop.audit.new() == []
    return {row.workflow_name: row for row in rows if row.outcome == "won"}


def _done(shop: Shop, table: str, key: str, **columns: Any) -> None:
    given = {
        "workflow": "shop",
        "status": "done",
        "outcome": "success",
        "claimed_at": f"{DAY}T12:00:00Z",
        "done_at": f"{DAY}T12:00:10Z",
        "last_possible_retry_at": f"{DAY}T12:00:00Z",
        "retain_until": f"{DAY}T12:00:00Z",
    }
    insert(shop.owner, table, idem_key=key, **given | columns)


def test_a_day_is_counted_per_workflow(shop: Shop) -> None:
    """Processed, failed, the median of how long, and what died."""
    for n, seconds in enumerate((10, 20, 60)):
        _done(shop, "idem", f"k{n}", done_at=f"{DAY}T12:{seconds // 60:02}:{seconds % 60:02}Z")
    _done(shop, "idem", "failed", outcome="failed", workflow="other")
    insert(shop.owner, "failed_jobs", workflow_name="third", failed_at=f"{DAY}T23:59:59Z")
    found = _report(shop, day=DAY)
    counts = {
        name: (r.processed, r.failed, r.median_seconds, r.dead_letters) for name, r in found.items()
    }
    assert counts == {
        "shop": (3, 0, 20.0, 0),
        "other": (1, 1, 10.0, 0),
        "third": (0, 0, None, 1),
    }


@pytest.mark.parametrize("where", ["idem", "idem_archive"])
def test_a_day_begins_and_ends_at_midnight_utc(sql_shop: Shop, where: str) -> None:
    """Also a day whose keys are in the archive by now, whatever the session's zone."""
    shop = sql_shop
    _done(shop, where, "before", done_at="2026-03-06T23:59:59.999Z")
    _done(shop, where, "first", done_at=f"{DAY}T00:00:00Z")
    _done(shop, where, "last", done_at=f"{DAY}T23:59:59.999Z")
    _done(shop, where, "after", done_at="2026-03-08T00:00:00Z")
    assert _report(shop, day=DAY)["shop"].processed == 2


def test_yesterday_is_the_default(sql_shop: Shop) -> None:
    """Today's work is not over."""
    shop = sql_shop
    completed(shop)
    marked(shop, event=2)
    of_nothing(shop)
    assert _report(shop) == {}
    shop.owner.execute(
        "UPDATE idem SET done_at = date_trunc('day', clock_timestamp(), 'UTC')"
        " - interval '1 second' WHERE status = 'done'"
    )
    assert _report(shop)["shop"].processed == 1


@pytest.mark.parametrize("day", ["7 March", "2026-02-30", "2026-3-7", "0001-01-01", "infinity"])
def test_a_day_is_written_one_way(shop: Shop, day: str) -> None:
    """The answer shows how."""
    (refused,) = shop.call_many("daily_report", day=day)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "day")
