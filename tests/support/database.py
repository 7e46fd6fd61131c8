"""Connections for tests, and an empty database after each test that committed."""

import secrets
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from ledger import roles, shipped

KEPT = {
    "django_migrations",
    "django_content_type",
    "auth_permission",
    "auth_group",
    "auth_group_permissions",
}
"""Tables that migrate fills and tests only read."""
IDLE, PREPARE_AFTER = TransactionStatus.IDLE, 5
"""How a connection is left by who opens it."""
LOCK_TIMEOUT = "10s"
"""A test that leaves a transaction open must fail, not hang."""
PATIENCE = 60
"""Seconds the server may take to notice that a program is gone: it looks when a statement ends."""


class Connect(Protocol):
    """Opens connections that the test need not close."""

    def __call__(self, role: str = "app") -> psycopg.Connection:
        """Connect as owner, app, n8n or articles."""


def database() -> str:
    """Return the name of this process's test database."""
    return str(connections["default"].settings_dict["NAME"])


def owner_connection() -> psycopg.Connection:
    """Open a connection to the test database as its owner."""
    return roles.connect(settings.DB_OWNER, database())


GUARD = "never_truncated"
"""The trigger of a table that is only ever added to."""


def guarded(session: psycopg.Connection) -> list[str]:
    """List the tables and partitions that refuse to be emptied."""
    found = session.execute(
        "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " WHERE t.tgname = %s ORDER BY 1",
        [GUARD],
    )
    return [name for (name,) in found]


def truncate(session: psycopg.Connection, tables: Iterable[str], guards: Iterable[str]) -> None:
    """Empty tables, as an owner can who takes away their guards; they stand again afterwards."""
    switch = sql.SQL("ALTER TABLE {} {} TRIGGER {}")
    switches = {
        verb: [
            switch.format(sql.Identifier("public", name), sql.SQL(verb), sql.Identifier(GUARD))
            for name in guards
        ]
        for verb in ("DISABLE", "ENABLE")
    }
    names = sql.SQL(", ").join(sql.Identifier("public", name) for name in tables)
    emptying = [*switches["DISABLE"], sql.SQL("TRUNCATE {}").format(names), *switches["ENABLE"]]
    with session.transaction():
        session.execute(sql.SQL("; ").join(emptying))


class Flush:
    """Puts the database back to what migrate left, touching only tables that hold rows.

    Rows are deleted, because a TRUNCATE makes new files for a table and each of its indexes. Only
    where nobody may delete there is no other way; of a partitioned table just the parts in use.
    """

    def __init__(self) -> None:
        """List the tables once, and which of them refuse a DELETE."""
        self._session = owner_connection()
        self._session.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        found = self._session.execute(
            "SELECT c.relname FROM pg_class c"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'"
            " AND c.relname <> ALL(%s) ORDER BY NOT EXISTS"  # what refers to others goes first
            " (SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f')",
            [list(KEPT)],
        ).fetchall()
        self._tables = [name for (name,) in found]
        self._append_only = set(guarded(self._session))

    def __call__(self) -> None:
        """Empty what holds rows and put the shipped rows back."""
        probe = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
        probes = [probe.format(sql.Literal(t), sql.Identifier("public", t)) for t in self._tables]
        filled = self._session.execute(sql.SQL(" UNION ALL ").join(probes)).fetchall()
        if not filled:
            return
        with self._session.transaction():
            for (name,) in filled:
                if name in self._append_only:
                    truncate(self._session, [name], [name])
                else:
                    delete = sql.SQL("DELETE FROM {}").format(sql.Identifier("public", name))
                    self._session.execute(delete)
            shipped.install(self._session.cursor())

    def close(self) -> None:
        """End the session."""
        self._session.close()


def wait_until_nobody_is_in() -> None:
    """Let sessions of killed programs end, so that the database can be dropped; name who stays."""
    others = (
        "SELECT usename, application_name, state, left(query, 200) FROM pg_stat_activity"
        " WHERE datname = %s AND usename IS NOT NULL AND pid <> pg_backend_pid()"
    )
    deadline = time.monotonic() + PATIENCE
    with roles.connect(settings.DB_OWNER, settings.DB_OWNER["NAME"]) as session:
        while left := session.execute(others, [database()]).fetchall():
            assert time.monotonic() < deadline, f"a test left sessions behind: {left}"
            time.sleep(0.1)


@contextmanager
def member_login(role: str) -> Iterator[dict[str, Any]]:
    """Make a login that is a member of a role nobody can log in as, for as long as the block.

    Each has a name of its own: another one of the same role may be in use.
    """
    group = sql.Identifier(settings.LEDGER_ROLES[role])
    name, password = f"{database()}_{role}_{secrets.token_hex(3)}", secrets.token_urlsafe(16)
    user = sql.Identifier(name)
    with owner_connection() as session:
        session.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}").format(
                user, sql.Literal(password), group
            )
        )
        try:
            yield {**settings.DB_OWNER, "USER": name, "PASSWORD": password}
        finally:
            session.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(user))


class Logins:
    """The logins a test can use, made when first asked for and gone at the end of the session.

    A session whose test is over serves the next one: what a session does first costs it more than
    most tests do after that (25 ms until functions and plans are in place).
    """

    def __init__(self) -> None:
        """Start with the two that are always there."""
        self._known = {"owner": settings.DB_OWNER, "app": settings.DB_APP}
        self._free: dict[str, list[psycopg.Connection]] = defaultdict(list)
        self._stack = ExitStack()

    def login(self, role: str) -> dict[str, Any]:
        """Return the login of this role."""
        if role not in self._known:
            self._known[role] = self._stack.enter_context(member_login(role))
        return self._known[role]

    @contextmanager
    def connected(self, role: str) -> Iterator[psycopg.Connection]:
        """Give an autocommit connection to the test database as this role."""
        free = self._free[role]
        connection = free.pop() if free else roles.connect(self.login(role), database())
        try:
            yield connection
        finally:
            if as_new(connection):
                free.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """End the sessions, and drop the logins made here."""
        for free in self._free.values():
            for connection in free:
                connection.close()
        self._stack.close()


def as_new(connection: psycopg.Connection) -> bool:
    """Put a session back to how it began; False where that cannot be done."""
    touched = (
        not connection.autocommit
        or connection.prepare_threshold != PREPARE_AFTER
        or connection.row_factory is not tuple_row
    )
    if connection.closed or touched or connection.info.transaction_status != IDLE:
        return False
    try:
        connection.execute("RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *")
        connection.execute("SELECT pg_advisory_unlock_all()")
    except psycopg.Error:  # somebody ended the session
        return False
    return True
