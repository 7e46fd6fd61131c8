"""One installation with its own private PostgreSQL, looked at and broken from outside."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from ledger import pgdata
from tests.support.processes import is_alive, manage, wait_until


class Installation:
    """One installation with its own private PostgreSQL."""

    def __init__(self, directory: Path) -> None:
        """Migrate it."""
        self.directory = directory
        migrating = manage(directory, "migrate", "--verbosity", "0")
        assert migrating.communicate(timeout=120)[0] == ""

    @classmethod
    def found(cls, directory: Path) -> "Installation":
        """Take one that is there."""
        installation = cls.__new__(cls)
        installation.directory = directory
        return installation

    def server(self) -> pgdata.Server:
        """Return where the server is."""
        known = json.loads((self.directory / "pg" / "connection.json").read_text())
        return pgdata.Server(**known)

    def connect(self) -> psycopg.Connection:
        """Log in as the owner, as soon as the server is there."""
        session = wait_until(self._try_to_connect, "the server is back")
        assert session is not None
        return session

    def _try_to_connect(self) -> psycopg.Connection | None:
        with suppress(psycopg.OperationalError):
            return self._connect()
        return None

    def _connect(self) -> psycopg.Connection:
        server = self.server()
        return psycopg.connect(
            host=pgdata.HOST,
            port=server.port,
            dbname=pgdata.DATABASE,
            user=pgdata.OWNER,
            password=server.owner_password,
            autocommit=True,
        )

    def kill_postgres(self) -> bool:
        """Kill the postmaster without a word, if it is there."""
        data = self.directory / "pg" / f"data{self.server().major}"
        with suppress(FileNotFoundError, ProcessLookupError, IndexError, ValueError):
            pid = int((data / "postmaster.pid").read_text().split()[0])
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Read."""
        with self.connect() as session, session.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query).fetchall()
