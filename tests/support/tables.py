"""All tables of the ledger at one moment: what stands in them, and what the audit says since."""

from typing import Any

import orjson
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tests.support.database import KEPT


class Tables:
    """Every row of every table but the audit, and the audit beside them."""

    def __init__(self, owner: psycopg.Connection) -> None:
        """List the tables."""
        self._owner = owner
        found = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL(%s)",
            [[*KEPT, "audit_events"]],
        )
        self._tables = sorted(name for (name,) in found)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row of every table but the audit."""
        query = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {}, to_jsonb(t) FROM {} t").format(
                sql.Literal(name), sql.Identifier("public", name)
            )
            for name in self._tables
        )
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in self._tables}
        for table, row in self._owner.execute(query):
            rows[table].append(row)
        return {name: sorted(found, key=orjson.dumps) for name, found in rows.items()}

    def last_event(self) -> int:
        """Return where the audit stands."""
        row = self._owner.execute("SELECT coalesce(max(id), 0) FROM audit_events").fetchone()
        assert row is not None
        return int(row[0])

    def events(self, since: int) -> list[dict[str, Any]]:
        """Return what the audit says since then."""
        with self._owner.cursor(row_factory=dict_row) as cursor:
            cursor.execute("SELECT * FROM audit_events WHERE id > %s ORDER BY id", [since])
            return cursor.fetchall()
