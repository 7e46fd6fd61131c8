"""The way out has limits: time, size and headers, and what an answer that broke them is worth."""

import socket
import threading
import time
from collections.abc import Callable

import pytest

from sweeper.errors import LookupInconclusiveError, ProviderUnavailableError
from sweeper.transport import Limits, request
from tests.support.hostile import HEAD, drip, flood, say, server, stay_silent
from tests.support.processes import PATIENCE


@pytest.mark.parametrize(
    "talk",
    [
        pytest.param(drip(b"", b"H"), id="status line"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nX: ", b"a"), id="headers"),
        pytest.param(stay_silent, id="silence"),
    ],
)
def test_a_slow_answer_is_cut_at_the_deadline(
    talk: Callable[[socket.socket, bytes], None],
) -> None:
    """The cap is on the whole call, so dripping bytes does not stretch it."""
    started = time.monotonic()
    with (
        server(talk) as (host, _),
        pytest.raises(
            ProviderUnavailableError, match=r"no complete answer within 0\.4 s"
        ) as caught,
    ):
        request("GET", f"http://{host}/", allow_private=[host], limits=Limits(seconds=0.4))
    assert caught.value.sent
    assert time.monotonic() - started < PATIENCE


def test_a_slow_body_is_cut_at_the_deadline_and_is_no_whole_body() -> None:
    """The status stands; what dripped in until then is not judged by."""
    started = time.monotonic()
    with server(drip(HEAD + b"Content-Length: 1000\r\n\r\n", b"x")) as (host, _):
        answer = request("GET", f"http://{host}/", allow_private=[host], limits=Limits(seconds=0.4))
    assert (answer.status, time.monotonic() - started < PATIENCE) == (200, True)
    with pytest.raises(LookupInconclusiveError, match=r"broke off: no complete answer within 0\.4"):
        answer.whole_body()


def test_an_answer_of_endless_chunks_is_cut_at_the_cap() -> None:
    """No length was announced; the cap holds all the same."""

    def talk(connection: socket.socket, _: bytes) -> None:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")

    with server(talk) as (host, _):
        limits = Limits(seconds=5, max_bytes=100_000)
        answer = request("GET", f"http://{host}/", allow_private=[host], limits=limits)
    assert answer.problem == "the answer is larger than 100000 bytes"


def test_a_slow_handshake_is_cut_at_the_deadline() -> None:
    """A server that accepts and never speaks TLS costs no more than the cap."""
    started = time.monotonic()
    with (
        server(stay_silent) as (host, _),
        pytest.raises(ProviderUnavailableError) as caught,
    ):
        request("GET", f"https://{host}/", allow_private=[host], limits=Limits(seconds=0.4))
    assert not caught.value.sent
    assert time.monotonic() - started < PATIENCE


def test_a_slow_resolver_is_cut_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the name look-up is part of the call."""
    release = threading.Event()

    def getaddrinfo(*_: object, **__: object) -> list[object]:
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(ProviderUnavailableError, match="not resolved within"):
        request("GET", "https://api.example.com/", limits=Limits(seconds=0.2))
    release.set()


def test_a_huge_answer_keeps_its_status_and_loses_its_body() -> None:
    """The status is a fact; half a body is none, and the message says so."""
    with server(flood) as (host, _):
        limits = Limits(seconds=5, max_bytes=100_000)
        answer = request("GET", f"http://{host}/", allow_private=[host], limits=limits)
    assert (answer.status, len(answer.body)) == (200, 100_000)
    with pytest.raises(LookupInconclusiveError, match="larger than 100000 bytes"):
        answer.whole_body()


def test_a_body_that_breaks_off_is_no_whole_body() -> None:
    """A look-up never reads "absent" out of a truncated list."""
    with server(say(HEAD + b"Content-Length: 100\r\n\r\n[")) as (host, _):
        answer = request("GET", f"http://{host}/", allow_private=[host])
    with pytest.raises(LookupInconclusiveError, match="broke off"):
        answer.whole_body()


def test_endless_headers_are_refused() -> None:
    """A header section has a cap of its own."""
    with (
        server(say(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000)) as (host, _),
        pytest.raises(ProviderUnavailableError),
    ):
        request("GET", f"http://{host}/", allow_private=[host])


def test_a_compressed_answer_is_not_unpacked() -> None:
    """Compression was not asked for; unpacking it could fill the memory."""
    with server(say(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n\x1f")) as (
        host,
        _,
    ):
        answer = request("GET", f"http://{host}/", allow_private=[host])
    with pytest.raises(LookupInconclusiveError, match="compressed"):
        answer.whole_body()
