"""The sources' processed_items: what was processed, and the record of it, once."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support import sources
from tests.support.factories import (
    Shop,
    buried,
    claimed,
    completed,
    in_review,
    marked,
)
from tests.support.retention import grow_old
from tests.support.sources import Articles, Told

KEY = "evt_1"


def test_an_unknown_item_is_recorded_once(shop: Shop, articles: Articles, told: Told) -> None:
    """Check first, then work, then record: as its source does."""
    assert articles.run(sources.IS_PROCESSED, "o-1") == []
    assert articles.changed(sources.PROCESSED, "o-1", "intake") == 1
    assert told() == [("sql:processed_items", "inserted", 1)]
    assert articles.run(sources.IS_PROCESSED, "o-1") == [{"item_key": "o-1"}]
    assert articles.changed(sources.PROCESSED, "o-1", "intake") == 0
    assert told() == [("sql:processed_items", "already_done", 0)]
    key = shop.row("idem", "o-1")
    assert (key["status"], key["outcome"], key["workflow"], key["effect"]) == (
        "done",
        "success",
        "intake",
        "(unknown)",
    )
    assert not articles.won("o-1")


def test_recording_a_pending_item_ends_it_with_its_job(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """Whoever claimed it."""
    job = marked(shop)
    articles.won(KEY)
    told()
    for key in (job.idem_key, KEY):
        assert articles.changed(sources.PROCESSED, key, "intake") == 1
        assert told() == [("sql:processed_items", "won", 1)]
        assert shop.row("idem", key)["status"] == "done"
    assert {row["state"] for row in shop.rows("jobs")} == {"done"}


@pytest.mark.parametrize(
    ("make", "outcome"),
    [(completed, "already_done"), (in_review, "in_review"), (buried, "dead_lettered")],
)
def test_an_item_that_is_done_or_somebodys_to_decide_is_not_recorded(
    shop: Shop, articles: Articles, told: Told, make: Any, outcome: str
) -> None:
    """INSERT 0 0, and the audit row says which; RETURNING gives no row."""
    job = make(shop)
    before = (shop.rows("idem"), shop.rows("jobs"))
    told()
    statement = sources.PROCESSED.rstrip(";") + " RETURNING item_key"
    assert articles.run(statement, job.idem_key, "w") == []
    assert told() == [("sql:processed_items", outcome, 0)]
    assert (shop.rows("idem"), shop.rows("jobs")) == before


def test_an_archived_item_is_known_and_not_recorded_again(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """It shows in the view as before."""
    articles.changed(sources.PROCESSED, "o-1", "intake")
    grow_old(shop)
    shop.run("archive_keys")
    told()
    assert articles.changed(sources.PROCESSED, "o-1", "intake") == 0
    assert told() == [("sql:processed_items", "already_done", 0)]
    assert articles.run(sources.IS_PROCESSED, "o-1") == [{"item_key": "o-1"}]


def test_the_view_shows_every_key_under_the_sources_names(shop: Shop, articles: Articles) -> None:
    """Pending, in review, ended in every way, live and archived."""
    for n, outcome in enumerate(("success", "failed", "skipped", "abandoned")):
        job = claimed(shop, event=n)
        shop.owner.execute(
            "UPDATE idem SET status = 'done', done_at = claimed_at + interval '5 s', outcome = %s"
            " WHERE idem_key = %s",
            [outcome, job.idem_key],
        )
    in_review(shop)
    claimed(shop, event="pending")
    rows = articles.run("SELECT * FROM processed_items")
    assert {row["item_key"]: row["status"] for row in rows} == {
        "charge:0": "success",
        "charge:1": "failed",
        "charge:2": "skipped",
        "charge:3": "skipped",
        "hook:1": "review",
        "charge:pending": "pending",
    }
    (first,) = articles.run("SELECT * FROM processed_items WHERE item_key = 'charge:0'")
    assert first["processed_at"] - first["started_at"] == timedelta(seconds=5)
    assert first["workflow_name"] == "shop"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("success", "success"), ("failed", "failed"), ("skipped", "skipped"), ("error", "failed")],
)
def test_a_status_is_kept_and_an_unknown_one_is_no_success(
    shop: Shop, articles: Articles, status: str, outcome: str
) -> None:
    """The three words of the source."""
    statement = sources.PROCESSED.replace("'success'", "$3")
    assert articles.changed(statement, "o-1", "intake", status) == 1
    assert shop.row("idem", "o-1")["outcome"] == outcome


def test_what_a_view_cannot_do_fails_loudly(articles: Articles) -> None:
    """ON CONFLICT DO NOTHING runs; with columns it cannot; rows are neither changed nor deleted."""
    bare = sources.PROCESSED.rstrip(";")
    assert articles.changed(f"{bare} ON CONFLICT DO NOTHING", "o-1", "w") == 1
    with pytest.raises(psycopg.errors.InvalidColumnReference):
        articles.run(f"{bare} ON CONFLICT (item_key) DO NOTHING", "o-2", "w")
    for statement in ("UPDATE processed_items SET status = 'x'", "DELETE FROM processed_items"):
        with pytest.raises(psycopg.Error):
            articles.run(statement)
    assert articles.run(sources.IS_PROCESSED, "o-1") != []
