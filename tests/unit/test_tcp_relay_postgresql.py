"""The TCP relay before PostgreSQL: what is committed when an answer is lost; its command."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from ledger import roles
from ledger.local import state_dir
from sweeper.killmatrix.server import running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support import database as tests_database
from tests.support import processes

LOOPBACK = ("127.0.0.1", 0)


@pytest.fixture
def database(transactional_db: None) -> Iterator[TcpRelay]:
    """Run a relay in front of the test database."""
    login = settings.DB_OWNER
    with running(TcpRelay(LOOPBACK, f"postgresql://{login['HOST']}:{login['PORT']}")) as server:
        yield server


def through(relay: TcpRelay, **more: Any) -> psycopg.Connection:
    """Log in through the relay."""
    host, port = relay.server_address[:2]
    login = settings.DB_OWNER | {"HOST": str(host), "PORT": str(port)} | more
    return roles.connect(login, tests_database.database())


def test_postgresql_log_ins_are_no_exchanges(database: TcpRelay) -> None:
    """Whatever is armed waits for the first statement; farewells are none either."""
    database.arm(Fault.DROP_BEFORE)
    with through(database) as session:
        assert not database.journal.entries
        with pytest.raises(psycopg.OperationalError):
            session.execute("SELECT 1")
    with through(database) as session:
        assert session.execute("SELECT 2").fetchone() == (2,)
    assert [(e["mode"], e["answered"]) for e in database.journal.entries] == [
        ("fail-before-forward", False),
        ("forward-and-respond", True),
    ]


def test_what_is_armed_can_wait_for_one_request(database: TcpRelay) -> None:
    """A program asks other things before; its other connections go on."""
    database.arm(Fault.DROP_AFTER, within=b"the one")
    with through(database) as session, through(database) as other:
        session.execute("SELECT 'another'")
        with pytest.raises(psycopg.OperationalError):
            other.execute("SELECT 'the one'")
        session.execute("SELECT 'the one'")
    modes = [(entry["connection"], entry["mode"]) for entry in database.journal.entries]
    assert modes == [
        (1, "forward-and-respond"),
        (2, "forward-then-drop"),
        (1, "forward-and-respond"),
    ]


@pytest.mark.parametrize("fault", [Fault.DROP_AFTER, Fault.CUT_MID_REPLY])
def test_postgresql_has_committed_before_the_cut(database: TcpRelay, fault: Fault) -> None:
    """Fifty of fifty: the caller sees an error, the row is there. Nothing after a drop before."""
    rounds = 25
    with through(database) as keeper:
        keeper.execute("CREATE TABLE tcp_relay_probe (n integer PRIMARY KEY)")
        for n in range(rounds):
            for sign, mode in ((1, fault), (-1, Fault.DROP_BEFORE)):
                with through(database) as session:
                    database.arm(mode)
                    with pytest.raises(psycopg.OperationalError):
                        session.execute("INSERT INTO tcp_relay_probe VALUES (%s)", [sign * (n + 1)])
        found = keeper.execute("SELECT n FROM tcp_relay_probe ORDER BY n").fetchall()
        keeper.execute("DROP TABLE tcp_relay_probe")
    assert [n for (n,) in found] == list(range(1, rounds + 1))
    cut = [e for e in database.journal.entries if e["mode"] == fault]
    assert [(e["answered"], e["status"]) for e in cut] == [(True, "I")] * rounds


def test_postgresql_pipelines_and_transactions_are_followed(database: TcpRelay) -> None:
    """Several statements under way are one exchange; its status says whether it is committed."""
    with through(database) as session:
        with session.pipeline():
            cursors = [session.execute("SELECT %s::int", [n]) for n in range(20)]
        assert [cursor.fetchone() for cursor in cursors] == [(n,) for n in range(20)]
        with session.transaction():
            assert session.execute("SELECT repeat('x', 300000)").fetchone() == ("x" * 300_000,)
        statuses = [entry["status"] for entry in database.journal.entries]
    assert statuses[-3:] == ["T", "T", "I"]
    assert sum(entry["reply_bytes"] for entry in database.journal.entries) > 300_000


def test_a_client_that_insists_on_encryption_hears_no(database: TcpRelay) -> None:
    """The relay could not see where a reply ends, so it never lets a connection be encrypted."""
    with pytest.raises(Exception, match="SSL"):
        through(database, OPTIONS={"sslmode": "require"})


def test_the_command_is_armed_by_lines(tmp_path: Path) -> None:
    """A user starts it with an address and tells it what to lose; a SIGTERM ends it quietly."""
    login = settings.DB_OWNER
    upstream = f"postgresql://{login['HOST']}:{login['PORT']}"
    log = tmp_path / "relay.jsonl"
    command = ("relay", "--listen", "127.0.0.1:0", "--upstream", upstream, "--log", str(log))
    process = processes.manage(state_dir(), *command)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        place = urlsplit(process.stdout.readline().split()[1])
        process.stdin.write("drop everything\nforward-then-drop-response\n")
        process.stdin.flush()
        assert "is none of forward" in process.stdout.readline()
        assert process.stdout.readline() == "armed forward-then-drop-response\n"
        there = login | {"HOST": place.hostname, "PORT": str(place.port)}
        with roles.connect(there) as session, pytest.raises(psycopg.OperationalError):
            session.execute("SELECT 1")
        process.terminate()
        process.communicate(timeout=processes.PATIENCE)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    (entry,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (entry["mode"], entry["answered"], entry["status"]) == ("forward-then-drop", True, "I")
