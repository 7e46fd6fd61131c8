"""The ledger a machine works on: quick calls, quick looks at all rows, an empty start each time."""

from typing import Any
from uuid import UUID

import orjson
from psycopg import sql
from psycopg.types.json import set_json_loads

from tests.support import desk
from tests.support.database import Connect, guarded, truncate
from tests.support.factories import BLIND, EFFECTS, FORCED, HANDLE, SHOP, make_effect, make_workflow

ATTEMPTS = {FORCED: 1, HANDLE: 2, BLIND: 2}
SENSITIVE = "seats"
EMPTIED = (
    *("jobs", "idem", "idem_archive", "conflicts", "failed_jobs", "evidence", "outbox"),
    *("payload_bodies", "record_history", "audit_events", "audit_seals", "customers"),
)
CUSTOMER = (
    "INSERT INTO customers (id, revision, name, phone, plan, notes, tags, seats, status)"
    " VALUES ('1002', 1, 'Dana', '0', 'basic', '', '[]', 3, 'active')"
)
# Time passes where a rule lets it pass. On a machine that is slow enough a story would else end
# otherwise when it is told again, and no failure could be shrunk.
TIME_STANDS = """
UPDATE policies SET value = '43200' WHERE name IN ('undo_s', 'retry_backoff_s', 'sweep_lease_s')
"""
LOOK = """
SELECT json_build_object(
    'jobs', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT id, idem_key, effect, effect_version, state, version, attempts, resends, send_no,
            marker_at, first_marked_at, serial_key, created_at, waiting_since, owner_token,
            event ->> 'id' AS event, lookup_errors,
            settle_until > clock_timestamp() AS settling,
            lease_expires_at <= clock_timestamp() AS expired,
            ready_at <= clock_timestamp() AS due FROM jobs ORDER BY created_at, idem_key) r),
    'keys', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT idem_key, status, outcome, job_id, result_hash, effect_version,
            retain_until < clock_timestamp() AS overdue FROM idem ORDER BY idem_key) r),
    'archive', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT idem_key, outcome, result_hash FROM idem_archive ORDER BY idem_key) r),
    'conflicts', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT id, kind, state, idem_key, job_id, lock_version, target, version_read, external,
            proposed, proposed_by FROM conflicts ORDER BY id) r),
    'letters', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT id, state, job_id, retry_count, next_retry_at, acked_at, waiting_since, lock_version
        FROM failed_jobs ORDER BY id) r),
    'evidence', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT job_id, kind, send_no FROM evidence ORDER BY id) r),
    'queue', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT source, item_id FROM review_queue ORDER BY source, item_id) r),
    'revision', (SELECT revision FROM customers),
    'audit', (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT id, tx, op, outcome, key, row_count, job_id, conflict_id, attempt, after, reason
        FROM audit_events WHERE id > %s ORDER BY id) r)
)::text
"""


class World:
    """Two connections to the test database: the runtime role's, and the owner's that moves time."""

    def __init__(self, connect: Connect) -> None:
        """Register the effects of the shop, the customers' table and a field nobody merges."""
        self._app, self._owner = connect("app"), connect("owner")
        for session in (self._app, self._owner):
            session.execute("SET synchronous_commit = off")
            session.prepare_threshold = 1
        set_json_loads(orjson.loads, self._app)
        self._guarded = guarded(self._owner)
        make_workflow(self._owner, SHOP)
        for name, class_ in EFFECTS.items():
            make_effect(self._owner, name, class_, provider={"max_attempts": ATTEMPTS[name]})
        make_effect(self._owner, "add", "forced_unique", kind="add")
        desk.open_shop(self._owner)
        self._owner.execute(TIME_STANDS)
        self._owner.execute(
            "UPDATE field_ownership SET sensitive = true WHERE field = %s", [SENSITIVE]
        )

    def empty(self) -> None:
        """Start from nothing but registrations and one customer."""
        truncate(self._owner, EMPTIED, self._guarded)
        self._owner.execute(CUSTOMER)

    def call(self, operation: str, argument: dict[str, Any]) -> list[dict[str, Any]]:
        """Run an operation and return its rows."""
        statement = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)").format(sql.Identifier(operation))
        cursor = self._app.execute(statement, [orjson.dumps(argument, default=_text).decode()])
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def look(self, since: int) -> dict[str, Any]:
        """Return all rows that matter, and the audit since a row of it."""
        row = self._owner.execute(LOOK, [since]).fetchone()
        assert row is not None
        seen: dict[str, Any] = orjson.loads(row[0])
        return seen

    def move(self, statement: str, *values: Any) -> list[Any]:
        """Move rows in time by hand; return what the statement returns."""
        cursor = self._owner.execute(statement, values)
        return [value for (value,) in cursor] if cursor.description else []


def _text(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{value!r} is no JSON")


ADVISORY = {HANDLE, BLIND}
SENDERS = (FORCED, HANDLE, BLIND, "add")
