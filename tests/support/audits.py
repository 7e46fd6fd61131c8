"""What an operation owes the audit: one row with the four facts for each row changed or refused."""

from collections import Counter
from typing import Any

import psycopg
from psycopg.rows import dict_row

SILENT = {
    ("heartbeat_job", "won"),
    ("take_sweep_lock", "held_by_other"),
    ("lookup_key", "won"),
    ("explain_job", "won"),
    ("explain_job", "lost_claim"),
    ("read_record", "won"),
    ("read_record", "lost_record"),
    ("read_conflict", "won"),
}
"""Answers that change nothing and lose nothing; so does every ``empty``."""
FACTS = ("key", "expected_hash", "actual_hash", "row_count", "lock_wait_ms", "duration_ms")


class AuditWatch:
    """Reads the audit rows written since it last looked."""

    def __init__(self, owner: psycopg.Connection) -> None:
        """Start with what is there."""
        self._owner, self._seen = owner, 0
        self.skip()

    def skip(self) -> None:
        """Forget what was written so far."""
        found = self._owner.execute("SELECT coalesce(max(id), 0) FROM audit_events").fetchone()
        self._seen = found[0] if found else 0

    def new(self) -> list[dict[str, Any]]:
        """Return the rows written since the last look, and see that each has its facts."""
        with self._owner.cursor(row_factory=dict_row) as cursor:
            cursor.execute("SELECT * FROM audit_events WHERE id > %s ORDER BY id", [self._seen])
            rows = cursor.fetchall()
        self._seen = max([self._seen, *(row["id"] for row in rows)])
        for row in rows:
            assert all(row[fact] is not None for fact in FACTS), row
            assert row["lock_wait_ms"] >= 0, row
            assert row["duration_ms"] >= 0, row
        return rows

    def expect(self, operation: str, answer: Any) -> None:
        """See that exactly one row tells of this answer, or none where none is owed."""
        rows = [(row["op"], row["outcome"]) for row in self.new()]
        silent = answer.outcome == "empty" or (operation, answer.outcome) in SILENT
        assert rows == ([] if silent else [(operation, answer.outcome)]), answer

    def expect_each(self, operations: set[str], answers: list[Any]) -> None:
        """See that exactly one row, of one of these operations, tells of each answer."""
        rows = self.new()
        assert {row["op"] for row in rows} <= operations, rows
        told = Counter(row["outcome"] for row in rows)
        assert told == Counter(a.outcome for a in answers if a.outcome != "empty"), answers
