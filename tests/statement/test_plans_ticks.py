"""What the ticks and the daily report read: by an index, however much is there."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from ledger.bench import database as bench
from sweeper import dead_letters, reconcile, run_alerts
from tests.support.database import Connect

ROWS = 20_000
SCANS = """
SELECT i.relname, pg_stat_get_xact_numscans(i.oid)
FROM pg_class i WHERE i.relkind = 'i' AND i.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'seq:' || t.relname, pg_stat_get_xact_numscans(t.oid)
FROM pg_class t
WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace AND t.reltuples > 1000
"""
"""Scans of each index, and of each large table as a whole."""


FILL = [
    """INSERT INTO failed_jobs (workflow_name, item_key, state, resolved_at, reason)
    SELECT 'bench', 'x' || n, 'resolved', now(), 'x' FROM generate_series(1, %s) n""",
    """INSERT INTO outbox (topic, subject, key, payload, published_at)
    SELECT 'a.b', 's', 'k' || n, '{}', now() FROM generate_series(1, %s) n""",
    """INSERT INTO conflicts (kind, state, workflow, attempted, expected_hash, actual_hash,
        dedupe_key, idem_key, resolved_at)
    SELECT 'missing_key', 'kept', 'bench', '{}', 'a', 'b', n::text, 'k' || n, now()
    FROM generate_series(1, %s) n""",
    """INSERT INTO idem_archive (idem_key, effect, status, payload_hash, claimed_at, done_at,
        last_possible_retry_at, retain_until)
    SELECT 'old:' || i.idem_key, i.effect, i.status, i.payload_hash, i.claimed_at, i.done_at,
        i.last_possible_retry_at, i.retain_until FROM idem i LIMIT %s""",
    """INSERT INTO runs (id, workflow, external_execution_id, status, ended_at, engine_confirmed_at)
    SELECT gen_random_uuid(), 'bench', n::text, 'failed', now(), now()
    FROM generate_series(1, %s) n""",
    """INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,
        actual_hash, row_count, lock_wait_ms, duration_ms)
    SELECT clock_timestamp(), 'command', 'x', 'x', 'won', 'k' || n, 'a', 'b', 1, 0, 0
    FROM generate_series(1, %s) n""",
]
SIGNED = """
UPDATE providers SET archive_expiry = interval '400 days', archive_signed_by = 'ann',
    archive_signed_at = now()
"""


@pytest.fixture
def owner(
    transactional_db: None, owner_sql: psycopg.Connection, app_sql: psycopg.Connection
) -> psycopg.Connection:
    """Give the owner's connection to a ledger that has worked for long."""
    owner_sql.execute(bench.REGISTER)
    bench.fill(owner_sql, "done", ROWS)
    for statement in FILL:
        owner_sql.execute(statement, [ROWS])
    owner_sql.execute(SIGNED)
    bench.call(app_sql, "seal_audit", {"actor": "sweeper:test"})
    owner_sql.execute("ANALYZE")
    return owner_sql


def scanned(session: Any, run: Callable[[], object]) -> set[str]:
    """Name what a call scanned."""
    before = dict(session.execute(SCANS).fetchall())
    run()
    after = dict(session.execute(SCANS).fetchall())
    return {name for name in after if after[name] > before.get(name, 0)}


def large(found: set[str]) -> set[str]:
    """Return the large tables that were read as a whole."""
    return {name for name in found if name.startswith("seq:")}


TICKS = {
    "purge_jobs": {"jobs_finished"},
    "purge_archive": set[str](),
    "take_outbox": {"outbox_unpublished"},
    "seal_audit": set[str](),
}
"""Operations, and what each must look by."""


def unconfirmed() -> None:
    """Read the runs that ended and that the engine may still say something about."""
    list(run_alerts.unconfirmed())


def test_no_tick_reads_a_large_table_as_a_whole(
    owner: psycopg.Connection, app_sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is young, published, closed, sealed, confirmed or still asked for is not looked at."""
    monkeypatch.setattr(run_alerts, "seconds", lambda _: 600.0)  # policies are read outside
    for operation, index in TICKS.items():
        tick = {"actor": "sweeper:test"}
        with app_sql.transaction():
            found = scanned(app_sql, lambda o=operation, t=tick: bench.call(app_sql, o, t))
        assert (large(found), index - found) == (set(), set()), operation
    with transaction.atomic(), connection.cursor() as cursor:
        for read in (dead_letters._due, reconcile._running, unconfirmed, run_alerts.current):
            assert not large(scanned(cursor, read)), read
    with owner.transaction():
        held = "SELECT ledger.key_held('k' || n) FROM generate_series(1, 10) n"
        assert not large(scanned(owner, lambda: owner.execute(held)))


def test_a_day_is_found_by_its_ends(owner: psycopg.Connection, connect: Connect) -> None:
    """Other days' keys need not be looked at; letters are few, and read."""
    session, day = connect("n8n"), {"workflow": "bench", "day": "2020-01-01"}
    with session.transaction():
        session.execute("SET LOCAL enable_seqscan = off")  # a part of the archive is small here
        found = scanned(session, lambda: bench.call(session, "daily_report", day))
    assert large(found) <= {"seq:failed_jobs"}
