"""What a console is measured on: finished jobs, what was audited, and what waits for people."""

from typing import Final, LiteralString

import psycopg

from ledger.bench import database as db

AUDIT_SHARE: Final = 10
OPEN_SHARE: Final = 100
"""One audit row for so many jobs, and one open item."""

# Seven of ten that wait are lost changes, two are dead letters, one is an uncertain send. They come
# in small steps of time, so that none of them shares its place in the order with many.
LOST: LiteralString = """
INSERT INTO conflicts (kind, state, workflow, target, record_key, version_read, version_found,
    attempted, base_snapshot, current_snapshot, event, expected_hash, actual_hash, dedupe_key,
    idem_key, job_id, execution_id, waiting_since)
SELECT 'stale_version', 'open', 'bench', 'customers', 'c-' || n, '1', '2',
    jsonb_build_object('customer', jsonb_build_object('id', 'c-' || n), 'phone', n::text),
    jsonb_build_object('phone', '1'), jsonb_build_object('phone', '2'),
    jsonb_build_object('id', 'evt-' || n), 'a', 'b', 'lost-' || n, 'bench-charge:' || n,
    'done-' || n, 'x' || n, now() - n * interval '1 second'
FROM generate_series(1, %(rows)s * 7 / 10) n
"""
LETTERS: LiteralString = """
INSERT INTO failed_jobs (workflow_name, item_key, error_message, error_node, payload, state,
    waiting_since)
SELECT 'bench', 'item-' || n, 'timed out after ' || n %% 7 || ' s', 'Send',
    jsonb_build_object('customer', jsonb_build_object('id', 'letter-' || n)), 'open',
    now() - n * interval '3 seconds'
FROM generate_series(1, %(rows)s * 2 / 10) n
"""
SENDS: LiteralString = """
INSERT INTO conflicts (kind, state, workflow, attempted, expected_hash, actual_hash, dedupe_key,
    idem_key, effect, job_id, waiting_since)
SELECT 'unknown_send', 'open', 'bench', '{}', 'a', 'b', 'send-' || id, idem_key, effect, id,
    now() - n * interval '7 seconds'
FROM (SELECT id, idem_key, effect, row_number() OVER () n FROM jobs WHERE state = 'review') j
"""
AUDIT: LiteralString = """
INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash, actual_hash,
    row_count, lock_wait_ms, duration_ms, target, record_key)
SELECT clock_timestamp(), 'workflow', 'bench', 'write_fields', 'won', 'bench-charge:done-' || n,
    'a', 'b', 1, 0, 0, 'customers', 'c-' || n
FROM generate_series(1, %(rows)s) n
"""


def fill(session: psycopg.Connection, jobs: int) -> None:
    """Fill an empty ledger with that many jobs, and with what belongs to so many."""
    waiting = max(jobs // OPEN_SHARE, 10)
    db.fill(session, "done", jobs, mark="done-")
    db.fill(session, "review", waiting // 10, mark="asked-")
    for statement, rows in ((LOST, waiting), (LETTERS, waiting), (AUDIT, jobs // AUDIT_SHARE)):
        session.execute(statement, {"rows": rows})
    session.execute(SENDS)
    db.settle(session)
