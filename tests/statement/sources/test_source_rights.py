"""The role of the sources' statements: their rights, column by column, and nothing else."""

import psycopg
import pytest

from tests.support.conflicts import decide_open
from tests.support.factories import (
    Shop,
    make_effect,
)
from tests.support.sources import Articles, review

KEY = "evt_1"


RIGHTS = {
    ("idem", "INSERT"): {"idem_key", "status", "claimed_at"},
    ("idem", "UPDATE"): {"status", "done_at"},
    ("jobs", "INSERT"): {"id", "state", "payload", "provider"},
    ("jobs", "UPDATE"): {"state", "claimed_at", "attempts"},
    ("processed_items", "INSERT"): {"item_key", "workflow_name", "status"},
    ("failed_jobs", "INSERT"): {
        "workflow_name",
        "item_key",
        "payload",
        "error_message",
        "error_node",
    },
    ("batch_runs", "INSERT"): {"workflow_name", "status"},
    ("batch_runs", "UPDATE"): {"last_cursor", "items_processed"},
}
READ = {"idem", "jobs", "processed_items", "failed_jobs", "batch_runs"}


def test_the_role_has_exactly_the_rights_of_these_statements(shop: Shop) -> None:
    """Column by column, and no table, sequence or function besides."""
    rows = shop.owner.execute(
        "SELECT table_name, privilege_type, column_name FROM information_schema.column_privileges"
        " WHERE grantee = 'ledger_articles'"
    ).fetchall()
    found: dict[tuple[str, str], set[str]] = {}
    for table, right, column in rows:
        found.setdefault((table, right), set()).add(column)
    read = {table for table, right in found if right == "SELECT"}
    assert {key: columns for key, columns in found.items() if key[1] != "SELECT"} == RIGHTS
    assert read == READ
    whole = shop.owner.execute(
        "SELECT table_name, privilege_type FROM information_schema.table_privileges"
        " WHERE grantee = 'ledger_articles'"
    ).fetchall()
    assert set(whole) == {(table, "SELECT") for table in READ}
    functions = shop.owner.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p"
        " WHERE p.pronamespace = 'ledger'::regnamespace"
        " AND has_function_privilege('ledger_articles', p.oid, 'EXECUTE')"
    ).fetchall()
    assert functions == []
    members = shop.owner.execute(
        "SELECT r.rolcanlogin, r.rolsuper FROM pg_roles r WHERE r.rolname = 'ledger_articles'"
    ).fetchone()
    assert members == (False, False)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET payload = '{}'",
        "UPDATE jobs SET owner_token = NULL",
        "UPDATE jobs SET lease_seconds = 5",
        "UPDATE idem SET result = '{}'",
        "UPDATE idem SET retain_until = now()",
        "DELETE FROM idem",
        "DELETE FROM jobs",
        "DELETE FROM failed_jobs",
        "TRUNCATE jobs",
        "UPDATE failed_jobs SET retry_count = 0",
        "UPDATE batch_runs SET status = 'complete'",
        "INSERT INTO idem (idem_key, effect) VALUES ('k', 'charge')",
        "INSERT INTO jobs (id, state, owner_token) VALUES ('a', 'claimed', gen_random_uuid())",
        "INSERT INTO evidence (job_id, kind, source) VALUES ('a', 'receipt', 'me')",
        "SELECT * FROM conflicts",
        "SELECT * FROM audit_events",
        "SELECT * FROM api_keys",
        "SELECT * FROM payload_bodies",
        "SELECT * FROM idem_archive",
        "SELECT * FROM ledger.claim_job('{}'::jsonb)",
        "SELECT ledger.article_call('x')",
        "CREATE TABLE public.mine (id int)",
        "CREATE TEMP TABLE jobs (id int)",
        "ALTER TABLE jobs DISABLE TRIGGER ALL",
    ],
)
def test_whatever_else_the_role_tries_is_refused(articles: Articles, statement: str) -> None:
    """By the database, not by a convention."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        articles.run(statement)


def test_their_rows_are_decided_like_any_other(shop: Shop, articles: Articles) -> None:
    """Landed, not landed, abandoned: job and key end together."""
    make_effect(shop.owner, "unused")
    for n, (decision, more) in enumerate(
        [
            ("landed", {"statement": "seen in the inbox"}),
            ("not_landed", {"statement": "nothing came"}),
            ("abandon", {}),
        ]
    ):
        articles.won(f"k{n}")
        review(shop, f"idem:k{n}")
        decide_open(shop, decision, **more)
        assert shop.row("idem", f"k{n}")["status"] == "done"
        assert not articles.won(f"k{n}")
    states = [shop.job(f"idem:k{n}")["state"] for n in range(3)]
    assert states == ["done", "abandoned", "abandoned"]
