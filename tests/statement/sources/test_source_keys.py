"""The sources' INSERT INTO idem and its UPDATE: the gate, as its source means it."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support import sources
from tests.support.factories import (
    BLIND,
    Shop,
    buried,
    enqueued,
    expire,
    in_review,
    marked,
    sweep,
)
from tests.support.retention import grow_old
from tests.support.sources import Articles, Told

KEY = "evt_1"


def test_a_key_is_claimed_once_and_ended_once(shop: Shop, articles: Articles, told: Told) -> None:
    """INSERT … RETURNING is the gate, the UPDATE its end; each write is on record once."""
    assert articles.won(KEY)
    assert told() == [("sql:idem", "won", 1)]
    assert not articles.won(KEY)
    assert told() == [("sql:idem", "held_by_other", 0)]
    assert articles.changed(sources.END_KEY, KEY) == 1
    assert told() == [("sql:idem", "won", 1)]
    assert articles.changed(sources.END_KEY, KEY) == 0
    assert not articles.won(KEY)
    assert told() == [("sql:idem", "already_done", 0)]
    key = shop.row("idem", KEY)
    assert (key["status"], key["outcome"], key["effect"], key["workflow"]) == (
        "done",
        "success",
        "(unknown)",
        "(sql)",
    )
    assert key["retain_until"] - key["claimed_at"] > timedelta(days=33)


def test_a_claimed_key_has_its_job_marked_as_it_is_made(shop: Shop, articles: Articles) -> None:
    """Nobody knows when such a workflow sends: from the claim on it may have."""
    articles.won(KEY)
    job = shop.job(f"idem:{KEY}")
    assert (job["state"], job["provider"], job["attempts"], job["send_no"]) == (
        "claimed",
        "(unknown)",
        1,
        1,
    )
    assert job["marker_at"] == job["first_marked_at"] == job["claimed_at"]
    assert job["lease_expires_at"] - job["claimed_at"] == timedelta(seconds=600)
    assert job["owner_token"] is not None
    articles.changed(sources.END_KEY, KEY)
    (evidence,) = shop.rows("evidence", job_id=job["id"])
    assert (evidence["kind"], evidence["source"]) == ("receipt", "sql")
    assert shop.job(job["id"])["state"] == "done"


@pytest.mark.parametrize("key", ["a,b", "x" * 255, "Zürich 🚀", "jobs:1", "it's"])
def test_a_key_may_be_any_printable_text(shop: Shop, articles: Articles, key: str) -> None:
    """What travels in a header later is plain."""
    assert articles.won(key)
    assert shop.job(f"idem:{key}")["provider_key"].isascii()


@pytest.mark.parametrize("key", [None, "", "a\nb", "x" * 256])
def test_a_key_that_cannot_be_one_fails_loudly(articles: Articles, key: Any) -> None:
    """A lost key arrives as NULL; answering that somebody else has it would drop the item."""
    with pytest.raises(psycopg.errors.IntegrityError):
        articles.run(sources.CLAIM_KEY, key)


def test_an_archived_key_is_not_claimed_again(shop: Shop, articles: Articles, told: Told) -> None:
    """However late the delivery."""
    articles.won(KEY)
    articles.changed(sources.END_KEY, KEY)
    grow_old(shop)
    assert shop.run("archive_keys").n == 1
    told()
    assert not articles.won(KEY)
    assert told() == [("sql:idem", "already_done", 0)]
    assert (shop.rows("idem"), len(shop.rows("jobs"))) == ([], 1)


@pytest.mark.parametrize(("state", "outcome"), [("review", "in_review"), ("dead", "held_by_other")])
def test_a_key_whose_send_is_asked_about_or_dead_is_not_ended_or_claimed(
    shop: Shop, articles: Articles, told: Told, state: str, outcome: str
) -> None:
    """The person or the schedule that has it decides; a raw UPDATE changes no row."""
    job = in_review(shop) if state == "review" else buried(shop, BLIND)
    before = (shop.rows("idem"), shop.rows("jobs"), shop.rows("failed_jobs"))
    told()
    assert not articles.won(job.idem_key)
    assert articles.changed(sources.END_KEY, job.idem_key) == 0
    refused = [("sql:idem", "dead_lettered", 0)] if state == "dead" else []
    assert told() == [("sql:idem", outcome, 0), *refused]
    assert (shop.rows("idem"), shop.rows("jobs"), shop.rows("failed_jobs")) == before


@pytest.mark.parametrize("state", ["queued", "claimed", "sweeping"])
def test_ending_a_key_ends_its_job_whoever_holds_it(
    shop: Shop, articles: Articles, state: str
) -> None:
    """The one who did the work says that it is done."""
    if state == "queued":
        enqueued(shop)
    else:
        job = marked(shop)
        if state == "sweeping":
            expire(shop, job)
            sweep(shop)
    assert articles.changed(sources.END_KEY, "charge:1") == 1
    (row,) = shop.rows("jobs")
    assert (row["state"], shop.row("idem", "charge:1")["status"]) == ("done", "done")
    assert shop.claim().outcome == "replay"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE idem SET status = 'pending'",
        "UPDATE idem SET status = 'review'",
        "UPDATE idem SET done_at = now()",
    ],
)
def test_a_key_moves_no_other_way(
    shop: Shop, articles: Articles, told: Told, statement: str
) -> None:
    """The rights on the columns would allow it; the guard does not, and does not raise."""
    articles.won(KEY)
    articles.changed(sources.END_KEY, KEY)
    told()
    assert articles.changed(statement) == 0
    assert told() == [("sql:idem", "bad_transition", 0)]
