"""The TCP relay before HTTP: what it loses, what it lets through, and what its log says."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

from sweeper.killmatrix.server import Handler, LoopbackServer, running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support.processes import PATIENCE

LOOPBACK = ("127.0.0.1", 0)


class Counter(LoopbackServer):
    """Counts what reaches it."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.count = 0
        super().__init__(LOOPBACK, _Count)


class _Count(Handler):
    server: Counter

    def respond(self, body: bytes) -> None:
        """Count, and answer with chunks, an empty answer, or a plain one."""
        self.server.count += 1
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
