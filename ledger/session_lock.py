"""An advisory lock in a session of its own: beside a lease, what a tick may hold on top.

A lock of a session is worth something only where the session is one's own: through a pooler in
transaction mode it is left behind in a session of somebody else. So it is taken on the direct
address alone, and where none is known it is not taken. Must not live here: who needs one, and the
lease that is the guard (take_sweep_lock).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings

from ledger import dsn, roles
from ledger.crash import crash_point
from ledger.errors import NotRecordedError
from ledger.local import SetupError

logger = logging.getLogger(__name__)

HELD_AT_MOST = "120s"
"""The server ends a session that is silent for longer: a process that hangs keeps nobody out."""


@contextmanager
def session_lock(key: int) -> Iterator[bool]:
    """Hold the lock for the length of a block, or give False where another session holds it.

    Raise NotRecordedError where the direct address does not answer. The session ends with the
    block, and with it the lock, whether or not it could be given back.
    """
    login: dsn.Login | None = settings.DB_DIRECT
    if login is None:
        yield True
        return
    crash_point("session_lock.before")
    session = _open(login)
    try:
        held = _try(session, key)
        crash_point("session_lock.after")
        try:
            yield held
        finally:
            crash_point("session_unlock.before")
            if held:
                _give_back(session, key)
    finally:
        session.close()
    crash_point("session_unlock.after")


def _open(login: dsn.Login) -> psycopg.Connection:
    try:
        return roles.connect(login)
    except SetupError as error:
        raise NotRecordedError(f"the direct address did not answer: {error}") from error


def _try(session: psycopg.Connection, key: int) -> bool:
    try:
        session.execute(f"SET idle_session_timeout = '{HELD_AT_MOST}'")
        found = session.execute("SELECT pg_try_advisory_lock(%s)", [key]).fetchone()
    except psycopg.Error as error:
        raise NotRecordedError(f"the direct address did not answer: {error}") from error
    return found == (True,)


def _give_back(session: psycopg.Connection, key: int) -> None:
    try:
        session.execute("SELECT pg_advisory_unlock(%s)", [key])
    except psycopg.Error as error:
        logger.warning("session lock %s: its session had ended: %s", key, error)
