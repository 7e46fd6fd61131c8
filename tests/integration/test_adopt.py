"""`manage.py adopt`: a database built from the articles becomes a ledger, and no row is lost."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from psycopg import sql
from pytest_django import DjangoDbBlocker

from ledger import roles
from ledger.management.commands import adopt as command
from tests.support import sources
from tests.support.adoption import Old, adopt, beside, built
from tests.support.database import database, member_login
from tests.support.sources import Articles

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def old(transactional_db: None) -> Iterator[Old]:
    """Give a database of the articles."""
    with built("old") as made:
        yield made


@pytest.fixture(scope="module")
def adopted(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Old]:
    """Give one that was taken over, for tests that only look."""
    with django_db_blocker.unblock(), ExitStack() as stack:
        here = connection.settings_dict["NAME"]
        made = stack.enter_context(built("adopted"))
        made.said = adopt()
        connection.close()
        connection.settings_dict["NAME"] = here
        yield made


def test_every_row_is_taken_over_with_its_meaning(adopted: Old) -> None:
    """Counted, marked where it was claimed, asked about where nobody knows; the old rows stay."""
    old, said = adopted, adopted.said
    assert "moved to the schema landed_before: jobs, idem" in said
    assert "jobs: 7 rows, 7 taken" in said
    assert "idem: 5 rows, 1 left, 4 taken" in said
    assert "processed_items: 4 rows, 2 merged, 2 taken" in said
    assert "failed_jobs: 3 rows, 3 taken" in said
    assert "batch_runs: 3 rows, 3 taken" in said
    assert "sweep_locks: 1 rows, 1 left" in said
    states = {row["id"]: row["state"] for row in old.rows("jobs")}
    assert states == {
        "q1": "queued",
        "c1": "claimed",
        "c2": "claimed",
        "s1": "claimed",
        "d1": "done",
        "r1": "review",
        "x1": "review",
        "idem:k-pending": "claimed",
        "idem:k-review": "review",
        "idem:k-both": "done",
    }
    keys = {row["idem_key"]: (row["status"], row["outcome"]) for row in old.rows("idem")}
    assert keys["jobs:d1"] == keys["k-done"] == keys["k-both"] == ("done", "success")
    assert keys["i-2"] == ("done", "failed")
    assert keys["jobs:q1"] == keys["k-pending"] == ("pending", None)
    assert keys["k-review"] == keys["jobs:r1"] == ("review", None)
    questions = old.rows("conflicts", kind="unknown_send", state="open")
    assert {row["job_id"] for row in questions} == {"r1", "x1", "idem:k-review"}
    before = old.owner.execute("SELECT count(*) FROM landed_before.jobs").fetchone()
    assert before == (7,)


def test_what_was_claimed_counts_as_marked_at_its_claim(adopted: Old) -> None:
    """So it is listed, swept and asked about, and never sent again."""
    old = adopted
    job = old.row("jobs", id="c2")
    was = old.row("landed_before.jobs", id="c2")
    assert job["marker_at"] == job["first_marked_at"] == job["claimed_at"] == was["claimed_at"]
    assert (job["attempts"], job["send_no"], job["payload"]) == (2, 1, was["payload"])
    provider = old.row("providers", name="resend.com")
    assert (provider["class"], provider["auto_registered"]) == ("advisory_blind", True)
    listed = old.owner.execute(sources.SWEEP).fetchall()
    assert {row[0] for row in listed} == {"c2", "s1", "idem:k-pending"}


def test_letters_and_batches_keep_their_numbers(adopted: Old) -> None:
    """New ones go on counting; payloads are read where they can be."""
    old = adopted
    letters = {row["id"]: row for row in old.rows("failed_jobs")}
    assert {
        n: (row["payload"], row["state"], row["retry_count"]) for n, row in letters.items()
    } == {
        1: ({"a": 1}, "open", 1),
        2: ("no json", "exhausted", 3),
        3: (None, "open", 0),
    }
    assert all(row["waiting_since"] for row in letters.values())
    batches = {row["id"]: row for row in old.rows("batch_runs")}
    assert (batches[1]["status"], batches[1]["last_cursor"]) == ("running", "300")
    assert batches[2]["items_processed"] == 900
    for table in ("failed_jobs", "batch_runs"):
        next_id = "SELECT nextval(pg_get_serial_sequence(%s, 'id'))"
        assert old.owner.execute(next_id, [table]).fetchone() == (4,)


def test_every_row_made_is_in_the_audit_once(adopted: Old) -> None:
    """As a command's doing."""
    old = adopted
    rows = old.owner.execute(
        "SELECT actor_kind, op, count(*) FROM audit_events WHERE op = 'adopt' GROUP BY 1, 2"
    ).fetchall()
    assert [(kind, op) for kind, op, _ in rows] == [("command", "adopt"), ("workflow", "adopt")]
    assert sum(count for *_, count in rows) == 7 + 4 + 2 + 3 + 3 + 1


def test_a_dry_run_changes_nothing(old: Old) -> None:
    """And says what it found."""

    def everything() -> list[Any]:
        return old.owner.execute(
            "SELECT n.nspname, c.relname, c.xmin::text FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname NOT LIKE 'pg_%' ORDER BY 1, 2"
        ).fetchall()

    before = everything()
    said = adopt("--dry-run")
    assert "jobs: 7 rows, 2 claimed, 1 done, 1 paused, 1 queued, 1 review, 1 sweeping" in said
    assert "dry run: nothing was changed" in said
    assert everything() == before
    assert len(old.rows("jobs")) == 7


def test_repeating_it_changes_nothing(adopted: Old) -> None:
    """Nor does a dry run afterwards."""
    old = adopted
    tables = ("jobs", "idem", "failed_jobs", "batch_runs", "conflicts", "audit_events")
    before = [old.rows(table) for table in tables]
    assert "everything was taken over already" in old.adopt()
    assert "everything was taken over already" in old.adopt("--dry-run")
    assert [old.rows(table) for table in tables] == before


def test_it_goes_on_where_it_was_stopped(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    """After moving, before or during the copy: nothing is lost, nothing is there twice."""
    with monkeypatch.context() as patch:
        patch.setattr(command, "call_command", lambda *_a, **_k: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            adopt()
    assert old.rows("landed_before.jobs") != []
    with monkeypatch.context() as patch:
        patch.setattr(command, "_count", lambda _owner, table: 5 if table == "idem" else 99)
        with pytest.raises(CommandError, match="nothing was kept"):
            adopt()
    assert (old.rows("jobs"), old.rows("idem")) == ([], [])
    assert "jobs: 7 rows, 7 taken" in adopt()


def test_the_sources_statements_run_on_what_was_taken_over(old: Old) -> None:
    """As a login that was given the role."""
    with member_login("articles") as other:
        old.owner.execute(
            sql.SQL("REVOKE ledger_articles FROM {}").format(sql.Identifier(other["USER"]))
        )
        assert "may run the articles' statements" in adopt("--role", other["USER"])
        with roles.connect(other, old.name) as session:
            articles = Articles(session)
            assert not articles.won("k-done")
            assert not articles.won("k-pending")
            assert articles.won("new")
            (row,) = articles.run(sources.CLAIM_JOB, "q1")
            assert (row["payload"], row["attempts"]) == ({"to": "a"}, 1)
            assert articles.run(sources.CLAIM_JOB, "c2") == []
            assert articles.changed(sources.END_KEY, "k-pending") == 1
            assert articles.changed(sources.PROCESSED, "i-1", "intake") == 0
            assert len(articles.run(sources.RETRY_LIST)) == 2
    with pytest.raises(CommandError, match="no login nobody"):
        adopt("--role", "nobody")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE TABLE conflicts (id int)", "These names are taken: conflicts"),
        ("CREATE VIEW outbox AS SELECT 1 AS a", "These names are taken: outbox"),
        ("ALTER TABLE jobs DROP COLUMN provider", "jobs has no column provider"),
        ("CREATE SCHEMA landed_before", "Nothing was moved"),
    ],
)
def test_what_is_not_the_articles_is_left_alone(old: Old, statement: str, words: str) -> None:
    """Nothing is moved, and the words say what to do."""
    old.owner.execute(statement)
    with pytest.raises(CommandError, match=words):
        adopt()
    assert len(old.rows("jobs")) == 7


def test_an_empty_database_is_just_migrated(transactional_db: None) -> None:
    """There is nothing to take over."""
    with beside(f"{database()}_empty") as owner:
        said = adopt()
        assert "nothing to move" in said
        assert "there is nothing to take over" in said
        assert owner.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
