"""What the database does for the hot statements: which indexes it reads, and what it writes.

Operations are run as they are and the server's own counters tell which indexes they used; a guard
and the review queue are explained. Volumes are large enough that a wrong index would win on cost.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ledger.bench import database as bench

ROWS = 20_000
LONG_AGO = -7200.0
MOST = 50
"""What claim_next_jobs takes where nobody says how many."""
HEARTBEAT_WAL = 1100
GUARD = "id = 'held-77' AND owner_token = '2f1c7a52-6d0e-4d2f-9a57-0e6a3f0b9c11'"
BY_IDENTITY = {"jobs_pkey", "jobs_owner_token"}
"""A holder's token finds its own rows only; no other index may answer a guard."""
COUNTERS = """
SELECT i.relname, pg_stat_get_xact_numscans(i.oid)
FROM pg_class i WHERE i.relkind = 'i' AND i.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'seq:' || t.relname, pg_stat_get_xact_numscans(t.oid)
FROM pg_class t WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
"""


@pytest.fixture
def owner(transactional_db: None, owner_sql: psycopg.Connection) -> psycopg.Connection:
    """Give the owner's connection with one effect registered."""
    owner_sql.execute(bench.REGISTER)
    return owner_sql


def scans(session: psycopg.Connection, operation: str, **argument: Any) -> dict[str, int]:
    """Run an operation; count the scans of each index, ``seq:<table>`` where all was read."""
    with session.transaction():  # the counters are those of this transaction
        bench.call(session, operation, argument)
        return {name: count for name, count in session.execute(COUNTERS).fetchall() if count}


def used(session: psycopg.Connection, operation: str, **argument: Any) -> set[str]:
    """Run an operation and name what it scanned."""
    return set(scans(session, operation, **argument))


def fill(owner: psycopg.Connection, state: str, mark: str, *, stale: bool) -> None:
    """Add many jobs; stale statistics were taken while the tables were empty."""
    if stale:
        owner.execute("ANALYZE jobs; ANALYZE idem")
    bench.fill(owner, state, ROWS, mark=mark, age=LONG_AGO if state == "queued" else 0)
    if not stale:
        owner.execute("ANALYZE")


def explain(session: psycopg.Connection, query: str, *options: str) -> list[dict[str, Any]]:
    """Return every node of a statement's plan."""
    row = session.execute(f"EXPLAIN ({','.join(['FORMAT JSON', *options])}) {query}").fetchone()
    assert row
    return list(_nodes(row[0][0]["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT * FROM jobs WHERE {GUARD} FOR UPDATE",
        f"UPDATE jobs SET heartbeat_at = now() WHERE {GUARD}",
        f"UPDATE jobs SET heartbeat_at = now() WHERE {GUARD} AND state = 'claimed'",
        f"UPDATE jobs SET heartbeat_at = now() WHERE {GUARD} AND version = 1",
    ],
)
def test_a_guard_finds_its_row_by_id_or_token_under_stale_statistics(
    owner: psycopg.Connection, statement: str
) -> None:
    """Nothing was claimed when the statistics were taken; now everything is.

    An index whose condition the guard merely implies would be read from end to end.
    """
    with owner.transaction(force_rollback=True):
        owner.execute("ANALYZE jobs")
        bench.fill(owner, "claimed", ROWS, mark="held-")
        scans = [node for node in explain(owner, statement) if "Index Name" in node]
    assert {node["Index Name"] for node in scans} <= BY_IDENTITY
    assert all("=" in node.get("Index Cond", "") for node in scans)


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("operation", ["claim_next_job", "claim_next_jobs"])
def test_the_next_job_is_found_by_its_time(
    owner: psycopg.Connection, app_sql: psycopg.Connection, operation: str, *, stale: bool
) -> None:
    """One job or many, behind any number that are not due, also before the first statistics."""
    fill(owner, "queued", "due-", stale=stale)
    found = scans(app_sql, operation, workflow=bench.WORKFLOW)
    assert "jobs_ready" in found
    assert not found.keys() & {"seq:jobs", "seq:idem"}
    assert found["idem_pkey"] < 4 * MOST  # the queue is not joined before it is cut


@pytest.mark.parametrize("operation", ["claim_next_job", "claim_next_jobs"])
def test_a_lane_costs_no_look_at_every_job(
    owner: psycopg.Connection, app_sql: psycopg.Connection, operation: str
) -> None:
    """Whether somebody holds the lane of a due job, an index tells."""
    bench.fill(owner, "queued", ROWS, mark="due-", age=LONG_AGO)
    owner.execute("UPDATE jobs SET serial_key = 'lane-' || id")
    owner.execute("ANALYZE")
    found = used(app_sql, operation, workflow=bench.WORKFLOW)
    assert found >= {"jobs_one_active_per_lane", "jobs_lane_order"}
    assert not found & {"seq:jobs", "seq:idem"}


@pytest.mark.parametrize("stale", [False, True])
def test_the_sweep_finds_leases_that_ended(
    owner: psycopg.Connection, app_sql: psycopg.Connection, *, stale: bool
) -> None:
    """Live claims are not looked at."""
    fill(owner, "claimed", "live-", stale=stale)
    bench.fill(owner, "claimed", 20, mark="late-", age=LONG_AGO)
    found = used(app_sql, "take_expired_jobs", actor="sweeper:test")
    assert "jobs_lease" in found
    assert not found & {"seq:jobs", "seq:idem"}


def test_the_archiver_finds_keys_past_their_life(owner: psycopg.Connection, app_sql: Any) -> None:
    """Keys that still live are not looked at."""
    bench.fill(owner, "done", ROWS)
    owner.execute(
        "UPDATE idem SET last_possible_retry_at = now() - interval '9 days',"
        " retain_until = now() - interval '1 day' WHERE idem_key LIKE '%-1_'"
    )
    owner.execute("ANALYZE")
    found = used(app_sql, "archive_keys", actor="sweeper:test")
    assert "idem_overdue" in found
    assert "seq:idem" not in found


def test_promotion_finds_detected_losses(owner: psycopg.Connection, app_sql: Any) -> None:
    """Decided conflicts, finished jobs and their keys are not looked at."""
    bench.fill(owner, "done", ROWS)
    owner.execute(
        "INSERT INTO conflicts (kind, state, workflow, attempted, expected_hash, actual_hash,"
        " dedupe_key, resolved_at) SELECT 'missing_key', 'kept', 'bench', '{}', 'a', 'b', n::text,"
        f" now() FROM generate_series(1, {ROWS}) n"
    )
    owner.execute("ANALYZE")
    found = used(app_sql, "promote_conflicts", actor="sweeper:test")
    assert "conflicts_detected" in found
    assert not found & {"seq:conflicts", "seq:idem", "seq:jobs"}


def test_the_review_queue_merges_its_branches_in_order(owner: psycopg.Connection) -> None:
    """Each page reads the rows it shows, filtered or not."""
    bench.fill(owner, "queued", ROWS, mark="due-", age=LONG_AGO)
    owner.execute("UPDATE jobs SET waiting_since = now() WHERE id ~ '[13579]$'")
    owner.execute("ANALYZE")
    page = "SELECT * FROM review_queue {} ORDER BY opened_at, item_id, source LIMIT 50"
    for where in ("", "WHERE workflow = 'bench'", "WHERE opened_at > now() - interval '1 hour'"):
        nodes = explain(owner, page.format(where))
        assert "Merge Append" in {node["Node Type"] for node in nodes}, where
        through = [
            node["Relation Name"]
            for node in nodes
            if node["Node Type"] == "Seq Scan" and node["Plan Rows"] > 1
        ]
        assert not through, where


@pytest.mark.parametrize("note", ["n" * 80, "".join(str(uuid4()) for _ in range(1500))])
def test_a_heartbeat_writes_little(
    owner: psycopg.Connection, app_sql: psycopg.Connection, note: str
) -> None:
    """A payload of some 150 bytes, and one that is stored out of line."""
    token = str(uuid4())
    order = bench.order(1) | {"owner_token": token, "payload": {"note": note}}
    ((_, job_id, *_),) = bench.call(app_sql, "claim_job", order)
    mine = json.dumps({"workflow": bench.WORKFLOW, "job_id": job_id, "owner_token": token})
    written = []
    for _ in range(5):  # the first after a checkpoint also writes whole pages
        nodes = explain(app_sql, f"SELECT * FROM ledger.heartbeat_job('{mine}')", "ANALYZE", "WAL")
        written.append(nodes[0]["WAL Bytes"])
    assert min(written) <= HEARTBEAT_WAL, written
