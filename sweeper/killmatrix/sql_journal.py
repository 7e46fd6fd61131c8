"""An acceptance log in PostgreSQL, for a relay whose log several people read.

It is a table of its own in whatever database its address names; the ledger knows nothing of it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, override

import psycopg
from psycopg.types.json import Jsonb

from sweeper.killmatrix.server import MOST_ENTRIES, Journal

MAKE = """
CREATE TABLE IF NOT EXISTS relay_acceptance (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry jsonb NOT NULL
)
"""
READ = "SELECT entry FROM relay_acceptance ORDER BY n DESC LIMIT %s"


class SqlJournal(Journal):
    """A journal in a table; an entry is committed before the answer it tells of is let through."""

    def __init__(self, address: str) -> None:
        """Connect, make the table, and read what is there."""
        super().__init__()
        self._session = psycopg.connect(address, autocommit=True, connect_timeout=10)
        self._session.execute(MAKE)
        rows = self._session.execute(READ, [MOST_ENTRIES]).fetchall()
        self.entries.extend(entry for (entry,) in reversed(rows))

    @override
    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one entry."""
        self._session.execute("INSERT INTO relay_acceptance (entry) VALUES (%s)", [Jsonb(entry)])
        super().add(entry)

    @override
    def close(self) -> None:
        """End the session."""
        self._session.close()


def open_log(where: str | None) -> Journal:
    """Open the log an option names: a table at an address, a file, or memory."""
    try:
        if where is not None and where.startswith(("postgresql://", "postgres://")):
            return SqlJournal(where)
    except psycopg.Error as error:
        raise ValueError(f"the log cannot be opened: {error}") from error
    return Journal(Path(where) if where else None)
