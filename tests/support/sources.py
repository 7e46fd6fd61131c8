"""The sources' own statements as printed, run by a login that has nothing but their rights."""

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.support.conflicts import decide_open
from tests.support.factories import Shop, decide, expire, sweep

Told = Callable[[], list[tuple[str, str, int]]]
"""Gives the audit rows since the last look: operation, outcome, rows changed."""

CLAIM_KEY = (
    "INSERT INTO idem (idem_key, status, claimed_at) VALUES ($1, 'pending', now())"
    " ON CONFLICT (idem_key) DO NOTHING RETURNING idem_key;"
)
END_KEY = "UPDATE idem SET status='done', done_at=now() WHERE idem_key=$1 AND status='pending';"
ADD_JOB = "INSERT INTO jobs (id, state, payload, provider) VALUES ($1, 'queued', $2, $3);"
CLAIM_JOB = (
    "UPDATE jobs SET state = 'claimed', claimed_at = now(), attempts = attempts + 1"
    " WHERE id = $1 AND state = 'queued' RETURNING *;"
)
SWEEP = (
    "SELECT * FROM jobs WHERE state = 'claimed'"
    " AND claimed_at < now() - (lease_seconds || ' seconds')::interval;"
)
SWEEP_TEN = (
    "SELECT * FROM jobs WHERE state = 'claimed' AND claimed_at < now() - interval '10 minutes';"
)
IS_PROCESSED = "SELECT item_key FROM processed_items WHERE item_key = $1;"
PROCESSED = (
    "INSERT INTO processed_items (item_key, workflow_name, status) VALUES ($1, $2, 'success');"
)
FAILED = (
    "INSERT INTO failed_jobs (workflow_name, item_key, payload, error_message, error_node)"
    " VALUES ($1, $2, $3, $4, $5);"
)
RETRY_LIST = "SELECT * FROM failed_jobs WHERE retry_count < 3;"
START_BATCH = "INSERT INTO batch_runs (workflow_name, status) VALUES ($1, 'running') RETURNING id;"
ADVANCE = (
    "UPDATE batch_runs SET last_cursor = $1, items_processed = items_processed + $2 WHERE id = $3;"
)
CHANGE_PLAN = (
    "UPDATE customers SET plan = $1, version = version + 1 WHERE id = $2 AND version = $3;"
)

READING = {SWEEP, SWEEP_TEN, IS_PROCESSED, RETRY_LIST}
END_JOB = "UPDATE jobs SET state = 'done' WHERE id = $1 AND state = 'claimed'"
"""Not printed, but allowed: the end of a raw claim."""


class Articles:
    """One connection of a workflow that was built from the articles."""

    def __init__(self, session: psycopg.Connection) -> None:
        """Bind ``$n`` on the server, as n8n's node does."""
        self._cursor = psycopg.RawCursor(session, row_factory=dict_row)

    def run(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Run a statement and return its rows."""
        self._cursor.execute(statement, values)
        return self._cursor.fetchall() if self._cursor.description else []

    def changed(self, statement: str, *values: Any) -> int:
        """Run a statement and return how many rows it changed."""
        self._cursor.execute(statement, values)
        return self._cursor.rowcount

    def won(self, key: str) -> bool:
        """Claim a key as printed; say whether the row came back."""
        return self.run(CLAIM_KEY, key) == [{"idem_key": key}]

    def add(
        self, job_id: str, provider: str = "resend.com", payload: str = '{"to": "a@x.de"}'
    ) -> None:
        """Put a job into the queue as printed."""
        assert self.changed(ADD_JOB, job_id, payload, provider) == 1


def resend(shop: Shop) -> None:
    """Let a person decide to send again what is in review."""
    decide_open(shop, "resend", risk_acknowledged=True)


def review(shop: Shop, job_id: str) -> None:
    """Let the lease of a job run out and the sweeper find it."""
    expire(shop, job_id)
    (taken,) = [row for row in sweep(shop) if row.job_id == job_id]
    assert decide(shop, taken, "review").outcome == "won"


def offer(shop: Shop, job_id: str) -> None:
    """Let a person offer a job again, and the undo window pass."""
    review(shop, job_id)
    resend(shop)
    shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp() WHERE id = %s", [job_id])
