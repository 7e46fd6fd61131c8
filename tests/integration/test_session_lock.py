"""The lock of a session: one holder, gone with its session, and never through a pooler."""

import logging
from typing import Any

import psycopg
import pytest

from ledger.errors import NotRecordedError
from ledger.session_lock import session_lock
from tests.support.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KEY = 77
HOLDERS = (
    "SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
    " WHERE l.locktype = 'advisory' AND l.objid = 77 AND d.datname = current_database()"
)


def holders(owner: psycopg.Connection) -> list[int]:
    """Return who holds the lock."""
    return [pid for (pid,) in owner.execute(HOLDERS).fetchall()]


def test_one_holds_it_at_a_time(owner_sql: psycopg.Connection) -> None:
    """The other hears so, and takes nothing away."""
    with session_lock(KEY) as first:
        with session_lock(KEY) as second:
            assert (first, second) == (True, False)
        assert len(holders(owner_sql)) == 1
        with session_lock(KEY + 1) as other:
            assert other
    assert holders(owner_sql) == []
    with session_lock(KEY) as again:
        assert again


def test_it_is_given_back_whatever_happens(owner_sql: psycopg.Connection) -> None:
    """An error in the block stays what it was."""

    def work() -> None:
        with session_lock(KEY):
            raise ValueError("the work failed")

    with pytest.raises(ValueError, match="the work failed"):
        work()
    assert holders(owner_sql) == []


def test_a_session_that_was_ended_holds_nothing(
    app_sql: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """That it could not be given back is said, and stops nobody."""
    with caplog.at_level(logging.WARNING), session_lock(KEY) as held:
        assert held
        (pid,) = holders(app_sql)
        app_sql.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert "its session had ended" in caplog.text
    with session_lock(KEY) as again:
        assert again


def test_a_process_that_hangs_holds_it_only_so_long(
    owner_sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the session by itself."""
    monkeypatch.setattr("ledger.session_lock.HELD_AT_MOST", "200ms")
    with session_lock(KEY) as held:
        assert held
        wait_until(lambda: not holders(owner_sql), "the silent session has ended")
        with session_lock(KEY) as other:
            assert other


def test_without_a_direct_address_nobody_takes_it(
    settings: Any, owner_sql: psycopg.Connection
) -> None:
    """Through a pooler it would be left in somebody else's session: the lease alone decides."""
    settings.DB_DIRECT = None
    with session_lock(KEY) as first, session_lock(KEY) as second:
        assert (first, second) == (True, True)
        assert holders(owner_sql) == []


def test_a_direct_address_that_does_not_answer_is_a_database_that_is_away(settings: Any) -> None:
    """Nobody knows whether it is held, so nothing is done."""
    settings.DB_DIRECT = {**settings.DB_DIRECT, "PORT": "9"}
    with pytest.raises(NotRecordedError, match="the direct address did not answer"):
        session_lock(KEY).__enter__()
