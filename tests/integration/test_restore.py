"""A dump restored into another server: the audit stays whole, and goes on being sealed."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger import pgbin, pgdata
from tests.support.installation import Installation
from tests.support.processes import living, manage, python

SEAL = """SELECT outcome, n FROM ledger.seal_audit('{"actor": "tick"}')"""
VERIFY = """SELECT outcome, problem, detail FROM ledger.verify_audit('{"actor": "tick"}')"""
POLICY = (
    "SELECT outcome FROM ledger.set_policy(jsonb_build_object('actor', 'anna', 'reason', 'busy',"
    " 'name', 'undo_s', 'value', %s::int))"
)


STAY = "import sys; from ledger import embedded; embedded.ensure(); sys.stdin.read()"
"""A user of the private server, so that it stays until this one goes."""


@contextmanager
def installed(directory: Path) -> Iterator[Installation]:
    """Make an installation whose server stays, and leave nothing of it behind."""
    directory.mkdir(mode=0o700)
    staying = python(directory, "-c", STAY)
    try:
        yield Installation(directory)
    finally:
        staying.communicate()
        for pid in living(directory):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _tool(installation: Installation, program: str, *arguments: str, **more: Any) -> bytes:
    """Run a program of PostgreSQL against the server of an installation, as its superuser."""
    server = installation.server()
    command = pgbin.find().command(
        program,
        *("--host", pgdata.HOST, "--port", str(server.port), "--username", pgdata.SUPERUSER),
        *arguments,
    )
    environment = os.environ | {"PGPASSWORD": server.superuser_password}
    done = subprocess.run(command, capture_output=True, env=environment, check=False, **more)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def _work(session: psycopg.Connection, values: range) -> None:
    """Leave an audit row for each value."""
    for value in values:
        assert session.execute(POLICY, [value]).fetchone() == ("won",)


def _whole(session: psycopg.Connection) -> dict[str, int]:
    """Return what the audit counts, when nothing in it is broken."""
    (found,) = session.execute(VERIFY).fetchall()
    assert found[:2] == ("empty", None), found
    counted: dict[str, int] = found[2]
    return counted


def test_a_restored_audit_is_whole_and_goes_on(tmp_path: Path) -> None:
    """Though its numbers begin anew, among those of the transactions that were sealed."""
    with installed(tmp_path / "old") as old, installed(tmp_path / "new") as new:
        ahead = _seal_far_ahead(old)
        dump = _tool(old, "pg_dump", "--format=custom", pgdata.DATABASE)
        _tool(new, "dropdb", pgdata.DATABASE)
        _tool(new, "createdb", "--owner", pgdata.OWNER, pgdata.DATABASE)
        _tool(new, "pg_restore", "--dbname", pgdata.DATABASE, "--exit-on-error", input=dump)
        _go_on(new, ahead)


def _seal_far_ahead(old: Installation) -> int:
    """Leave five rows under a seal and three without; return the highest transaction's number."""
    with old.connect() as session:
        session.execute("SET synchronous_commit = off")
        for _ in range(3_000):  # so that the old server is far ahead of a new one
            session.execute("SELECT pg_current_xact_id()")
        _work(session, range(100, 105))
        assert session.execute(SEAL).fetchone() == ("won", 5)
        _work(session, range(200, 203))
        (ahead,) = session.execute("SELECT max(tx) FROM audit_events").fetchone() or (0,)
        return int(ahead)


def _go_on(new: Installation, ahead: int) -> None:
    """Write and seal where the dump was restored."""
    with new.connect() as session:
        assert _whole(session) == {"rows": 8, "seals": 1}
        _work(session, range(300, 304))
        (behind,) = session.execute("SELECT min(tx) FROM audit_events").fetchone() or (0,)
        assert behind < ahead, "this server's numbers were to be among the sealed ones"
        assert _whole(session) == {"rows": 12, "seals": 1}
        assert session.execute(SEAL).fetchone() == ("won", 7)
        assert _whole(session) == {"rows": 12, "seals": 2}
        _work(session, range(400, 402))
        assert session.execute(SEAL).fetchone() == ("won", 2)
        assert _whole(session) == {"rows": 14, "seals": 3}
        assert session.execute(SEAL).fetchone() == ("empty", None)
        session.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
        session.execute("DELETE FROM audit_events WHERE id = (SELECT min(id) FROM audit_events)")
        (found,) = session.execute(VERIFY).fetchall()
        assert found[:2] == ("won", "rows_missing_or_added")


def test_a_flush_empties_the_audit_too_and_its_guard_stands_again(tmp_path: Path) -> None:
    """Whoever confirms it means everything; nobody else empties anything."""
    with installed(tmp_path / "flushed") as installation:
        _flush(installation)


def _flush(installation: Installation) -> None:
    with installation.connect() as session:
        _work(session, range(100, 103))
        assert session.execute(SEAL).fetchone() == ("won", 3)
    flushing = manage(installation.directory, "flush", "--no-input")
    assert (flushing.communicate(timeout=120)[0], flushing.returncode) == ("", 0)
    with installation.connect() as session:
        assert _whole(session) == {"rows": 0, "seals": 0}
        _work(session, range(100, 102))
        for table in ("audit_events", "audit_seals", "evidence", "record_history"):
            with pytest.raises(psycopg.DatabaseError, match="append-only"):
                session.execute(f"TRUNCATE {table}")
        assert _whole(session) == {"rows": 2, "seals": 0}
