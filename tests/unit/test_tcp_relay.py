"""The TCP relay: what it loses, what it lets through, and that it knows where a reply ends."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from ledger import roles
from ledger.local import state_dir
from sweeper.killmatrix.framing import Http, Postgres
from sweeper.killmatrix.server import Handler, LoopbackServer, running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support import database as tests_database
from tests.support import processes

LOOPBACK = ("127.0.0.1", 0)
PATIENCE = 20


# -- HTTP --------------------------------------------------------------------------------------


class Counter(LoopbackServer):
    """Counts what reaches it."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.served = threading.Semaphore(0)
        self.count = 0
        super().__init__(LOOPBACK, _Count)


class _Count(Handler):
    server: Counter

    def respond(self, body: bytes) -> None:
        """Count, and answer with chunks, an empty answer, or a plain one."""
        self.server.count += 1
        self.server.served.release()
        if self.path == "/chunked":
            self.send_response(HTTPStatus.OK)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for chunk in (b"5\r\nhello\r\n", b"1;x=y\r\n!\r\n", b"0\r\n\r\n"):
                self.wfile.write(chunk)
        elif self.path == "/nothing":
            self.send_response(HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            self.answer(HTTPStatus.CREATED, {"size": len(body)})


@pytest.fixture
def upstream() -> Iterator[Counter]:
    """Run a server that counts."""
    with running(Counter()) as server:
        yield server


@pytest.fixture
def relay(upstream: Counter, tmp_path: Path) -> Iterator[TcpRelay]:
    """Run a relay in front of it."""
    with running(TcpRelay(LOOPBACK, upstream.url, log=tmp_path / "log")) as server:
        yield server


@contextmanager
def open_http(relay: TcpRelay) -> Iterator[http.client.HTTPConnection]:
    """Open a connection through the relay."""
    host, port = relay.server_address[:2]
    connection = http.client.HTTPConnection(str(host), int(port), timeout=PATIENCE)
    try:
        yield connection
    finally:
        connection.close()


def test_http_forward_keeps_a_connection_for_many_exchanges(
    relay: TcpRelay, upstream: Counter
) -> None:
    """Bodies of known length, chunked and missing ones all end where they end."""
    with open_http(relay) as connection:
        answers = []
        for method, path in (
            ("POST", "/a"),
            ("GET", "/chunked"),
            ("GET", "/nothing"),
            ("HEAD", "/a"),
        ):
            connection.request(method, path, body=b"x" * 70_000 if method == "POST" else None)
            response = connection.getresponse()
            answers.append((response.status, response.read()))
    assert answers == [(201, b'{"size": 70000}'), (200, b"hello!"), (204, b""), (201, b"")]
    log = list(relay.journal.entries)
    assert [(e["connection"], e["mode"], e["answered"], e["status"]) for e in log] == [
        (1, "forward-and-respond", True, str(status)) for status, _ in answers
    ]
    assert upstream.count == 4


@pytest.mark.parametrize("body", [None, b"x" * 200_000])
def test_http_drop_before_never_reaches_the_upstream(
    relay: TcpRelay, upstream: Counter, body: bytes | None
) -> None:
    """The caller is cut off with its whole request swallowed."""
    relay.arm(Fault.DROP_BEFORE)
    with open_http(relay) as connection:
        connection.request("POST", "/a", body=body)
        with pytest.raises(http.client.RemoteDisconnected):
            connection.getresponse()
    (entry,) = relay.journal.entries
    assert (entry["forwarded"], entry["answered"], upstream.count) == (False, False, 0)
    assert entry["request_bytes"] > len(body or b"")


def test_http_drop_after_awaits_the_answer_and_keeps_it(relay: TcpRelay, upstream: Counter) -> None:
    """The upstream did it, the caller never hears; the next exchange is untouched."""
    relay.arm(Fault.DROP_AFTER)
    with open_http(relay) as connection:
        connection.request("POST", "/a")
        with pytest.raises(http.client.RemoteDisconnected):
            connection.getresponse()
    (entry,) = relay.journal.entries
    assert (entry["answered"], entry["status"], entry["passed_bytes"]) == (True, "201", 0)
    assert entry["reply_bytes"] > 0
    with open_http(relay) as connection:
        connection.request("POST", "/a")
        assert connection.getresponse().status == 201
    assert upstream.count == 2


def test_http_cut_mid_reply_passes_a_part(upstream: Counter) -> None:
    """A status and half a body arrive; as the mode of every connection."""
    cutting = TcpRelay(LOOPBACK, upstream.url, mode=Fault.CUT_MID_REPLY, keep_bytes=150)
    with running(cutting) as relay:
        for _ in range(2):
            with open_http(relay) as connection:
                connection.request("POST", "/a", body=b"x" * 10_000)
                response = connection.getresponse()
                assert response.status == 201
                with pytest.raises(http.client.IncompleteRead):
                    response.read()
        assert [entry["passed_bytes"] for entry in relay.journal.entries] == [150, 150]


def test_cut_mid_reply_always_cuts(upstream: Counter) -> None:
    """More bytes than the reply has still lose its last one."""
    cutting = TcpRelay(LOOPBACK, upstream.url, mode=Fault.CUT_MID_REPLY, keep_bytes=10**9)
    with running(cutting) as relay:
        with open_http(relay) as connection:
            connection.request("POST", "/a")
            with pytest.raises(http.client.IncompleteRead):
                connection.getresponse().read()
        (entry,) = relay.journal.entries
        assert entry["passed_bytes"] == entry["reply_bytes"] - 1


def test_an_upstream_that_is_away_is_a_cut_connection() -> None:
    """Nothing listens there: the caller is cut, nothing is logged as forwarded."""
    with running(Counter()) as gone:
        address = gone.url
    with running(TcpRelay(LOOPBACK, address)) as relay, open_http(relay) as connection:
        connection.request("GET", "/")
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            connection.getresponse()
        assert not relay.journal.entries


def test_only_known_protocols_and_loopback() -> None:
    """A relay that anybody can reach, or that cannot see an end, is refused."""
    with pytest.raises(ValueError, match="loopback"):
        TcpRelay(("0.0.0.0", 0), "http://127.0.0.1:1")  # noqa: S104 - refused is the point
    with pytest.raises(ValueError, match="postgresql://"):
        TcpRelay(LOOPBACK, "ftp://127.0.0.1:1")


def test_an_http_reply_without_length_ends_with_its_connection() -> None:
    """And "100 Continue" is no reply."""
    framing = Http()
    assert not framing.asked(
        b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    assert not framing.answered(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert framing.asked(b"ok")
    assert not framing.answered(b"HTTP/1.0 200 OK\r\n\r\nsome")
    assert not framing.answered(b" more")
    assert framing.answered(b"")
    assert framing.status == "200"


# -- PostgreSQL --------------------------------------------------------------------------------


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
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    (entry,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (entry["mode"], entry["answered"], entry["status"]) == ("forward-then-drop", True, "I")


# -- every mode, mail, and the log -------------------------------------------------------------


def test_a_reply_that_hangs_comes_when_nobody_listens(relay: TcpRelay, upstream: Counter) -> None:
    """The caller gives up; the upstream has long answered, and the log says so."""
    relay.arm(Fault.HANG)
    host, port = relay.server_address[:2]
    connection = http.client.HTTPConnection(str(host), int(port), timeout=0.5)
    connection.request("GET", "/a")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    assert upstream.count == 1
    (entry,) = relay.journal.entries
    assert (entry["mode"], entry["answered"], entry["passed_bytes"]) == (Fault.HANG, True, 0)


def test_a_reply_given_twice_reached_the_upstream_once(relay: TcpRelay, upstream: Counter) -> None:
    """The second copy answers no request."""
    relay.arm(Fault.TWICE)
    with socket.create_connection(relay.server_address[:2], timeout=PATIENCE) as line:
        line.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        heard = b"".join(iter(lambda: line.recv(65_536), b""))
    assert heard.count(b"HTTP/1.1 201") == 2
    assert upstream.count == 1


def test_messages_that_arrive_byte_by_byte_are_put_together() -> None:
    """A packet of the network is no message."""
    framing = Postgres()
    framing.opening(b"\0\0\0\x08\0\x03\0\0")
    assert framing.answered(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
    query = b"Q\0\0\0\x0eSELECT 1;\0"
    assert [framing.asked(query[n : n + 1]) for n in range(len(query))] == [False] * 14 + [True]
    ready = b"C\0\0\0\x05XZ\0\0\0\x05T"
    assert [framing.answered(ready[n : n + 1]) for n in range(len(ready))] == [False] * 11 + [True]
    assert framing.status == "T"
