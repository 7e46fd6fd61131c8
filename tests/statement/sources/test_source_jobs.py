"""The sources' queue: INSERT INTO jobs and the UPDATE that claims, guarded and marked."""

from datetime import timedelta

import psycopg
import pytest

from tests.support import sources
from tests.support.factories import (
    Shop,
    claimed,
    enqueued,
)
from tests.support.retention import grow_old, let_jobs_grow_old
from tests.support.sources import Articles, Told

KEY = "evt_1"


def test_a_job_is_queued_claimed_and_ended(shop: Shop, articles: Articles, told: Told) -> None:
    """Its key is made with it; the claim counts as marked."""
    articles.add("j1")
    assert told() == [("sql:jobs", "inserted", 1)]
    job, key = shop.job("j1"), shop.row("idem", "jobs:j1")
    assert (job["state"], job["idem_key"], key["job_id"], key["status"]) == (
        "queued",
        "jobs:j1",
        "j1",
        "pending",
    )
    (row,) = articles.run(sources.CLAIM_JOB, "j1")
    assert told() == [("sql:jobs", "won", 1)]
    assert (row["id"], row["state"], row["attempts"], row["payload"]) == (
        "j1",
        "claimed",
        1,
        {"to": "a@x.de"},
    )
    assert row["marker_at"] == row["first_marked_at"] == row["claimed_at"]
    assert row["lease_expires_at"] - row["claimed_at"] == timedelta(seconds=row["lease_seconds"])
    assert articles.run(sources.CLAIM_JOB, "j1") == []
    assert told() == []
    assert articles.changed(sources.END_JOB, "j1") == 1
    assert told() == [("sql:jobs", "won", 1)]
    assert (shop.job("j1")["state"], shop.row("idem", "jobs:j1")["outcome"]) == ("done", "success")
    (evidence,) = shop.rows("evidence", job_id="j1")
    assert (evidence["kind"], evidence["source"]) == ("receipt", "sql")


def test_a_key_named_after_a_job_ends_it(shop: Shop, articles: Articles) -> None:
    """Both names mean the same work."""
    articles.add("j1")
    articles.run(sources.CLAIM_JOB, "j1")
    assert articles.changed(sources.END_KEY, "jobs:j1") == 1
    assert shop.job("j1")["state"] == "done"


def test_an_unknown_provider_is_registered_with_a_warning(shop: Shop, articles: Articles) -> None:
    """Nothing may be assumed of it: a marked send is never repeated."""
    articles.add("j1", "brand-new.example")
    (provider,) = shop.rows("providers", name="brand-new.example")
    assert (provider["class"], provider["auto_registered"]) == ("advisory_blind", True)
    articles.add("j2", "charge-provider")
    (known,) = shop.rows("providers", name="charge-provider")
    assert (known["class"], known["auto_registered"]) == ("forced_unique", False)
    assert shop.job("j2")["lease_seconds"] == known["lease_seconds"]


def test_an_id_that_is_there_fails_as_its_primary_key_does(shop: Shop, articles: Articles) -> None:
    """The printed statement has no ON CONFLICT; nothing of the second is left."""
    articles.add("j1")
    before = (shop.rows("jobs"), shop.rows("idem"), len(shop.rows("audit_events")))
    with pytest.raises(psycopg.errors.UniqueViolation, match="jobs_pkey"):
        articles.add("j1", payload='{"another": 1}')
    assert (shop.rows("jobs"), shop.rows("idem"), len(shop.rows("audit_events"))) == before


def test_an_id_whose_key_is_in_the_archive_is_not_queued_again(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """The job went long ago, and its answer stayed."""
    articles.add("j1")
    articles.run(sources.CLAIM_JOB, "j1")
    articles.changed(sources.END_JOB, "j1")
    grow_old(shop)
    shop.run("archive_keys")
    let_jobs_grow_old(shop)
    assert shop.run("purge_jobs").n == 1
    told()
    assert articles.changed(sources.ADD_JOB, "j1", "{}", "resend.com") == 0
    assert told() == [("sql:jobs", "already_done", 0)]
    assert (shop.rows("jobs"), shop.rows("idem")) == ([], [])


@pytest.mark.parametrize("job_id", ["x" * 300, "two\nlines", "Zürich"])
def test_an_id_may_be_any_text(shop: Shop, articles: Articles, job_id: str) -> None:
    """Where it is no key, its digest is."""
    articles.add(job_id)
    job = shop.job(job_id)
    assert job["idem_key"].startswith("jobs:")
    assert (len(job["idem_key"]) <= 255, job["provider_key"].isascii()) == (True, True)
    assert articles.run(sources.CLAIM_JOB, job_id)[0]["state"] == "claimed"


@pytest.mark.parametrize(
    ("statement", "state"),
    [
        ("UPDATE jobs SET state = 'done'", "queued"),
        ("UPDATE jobs SET state = 'dead'", "queued"),
        ("UPDATE jobs SET state = 'review'", "claimed"),
        ("UPDATE jobs SET state = 'queued'", "claimed"),
        ("UPDATE jobs SET state = 'claimed'", "done"),
        ("UPDATE jobs SET state = 'queued'", "done"),
        ("UPDATE jobs SET attempts = 0", "claimed"),
        ("UPDATE jobs SET claimed_at = now()", "claimed"),
        ("UPDATE jobs SET state = 'nonsense'", "queued"),
    ],
)
def test_a_job_moves_no_other_way(
    shop: Shop, articles: Articles, told: Told, statement: str, state: str
) -> None:
    """The rights on the columns would allow it; the guard does not, and does not raise."""
    articles.add("j1")
    if state != "queued":
        articles.run(sources.CLAIM_JOB, "j1")
    if state == "done":
        articles.changed(sources.END_JOB, "j1")
    before = shop.job("j1")
    told()
    assert articles.changed(statement) == 0
    assert told() == [("sql:jobs", "bad_transition", 0)]
    assert shop.job("j1") == before


def test_a_job_is_queued_in_no_other_state(shop: Shop, articles: Articles, told: Told) -> None:
    """Nor made as claimed or done."""
    for state in ("claimed", "done", "dead"):
        statement = sources.ADD_JOB.replace("queued", state)
        assert articles.changed(statement, "j1", "{}", "resend.com") == 0
        assert told() == [("sql:jobs", "bad_transition", 0)]
    assert (shop.rows("jobs"), shop.rows("idem")) == ([], [])


def test_a_job_is_not_claimed_before_its_time_or_in_a_busy_lane(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """Also one that a workflow queued through an operation."""
    later = enqueued(shop, event=1, run_after="2199-01-01T00:00:00Z")
    claimed(shop, event=2, serial_key="lane")
    behind = enqueued(shop, event=3, serial_key="lane")
    told()
    for job_id in (later, behind):
        assert articles.run(sources.CLAIM_JOB, job_id) == []
        assert told() == [("sql:jobs", "held_by_other", 0)]
        assert shop.job(job_id)["state"] == "queued"


def test_whoever_enqueued_a_job_does_not_hold_what_a_statement_claimed(
    shop: Shop, articles: Articles
) -> None:
    """Its execution resumes nothing; the claim lengthens the key's life like any attempt."""
    job_id = enqueued(shop, execution_id="7")
    shop.owner.execute("UPDATE idem SET last_possible_retry_at = claimed_at")
    (row,) = articles.run(sources.CLAIM_JOB, job_id)
    assert (row["execution_id"], row["owner_name"].startswith("login ")) == (None, True)
    back = shop.claim(execution_id="7")
    assert (back.outcome, back.owner_token) == ("held_by_other", None)
    key = shop.row("idem", "charge:1")
    assert key["last_possible_retry_at"] - row["claimed_at"] > timedelta(days=2)
