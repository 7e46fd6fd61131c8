"""The way out: where it refuses to go, how it reads an address, and what a failure proves."""

import socket
from typing import Any

import pytest

from sweeper.errors import ProviderRejectedError, ProviderUnavailableError
from sweeper.transport import Limits, request
from tests.support.hostile import HEAD, answer_names, say, server


def test_an_allowed_host_is_called_and_answers() -> None:
    """Status, headers and body come back; the Host header is the one of the URL."""
    with server(say(HEAD + b"Content-Length: 2\r\n\r\nhi")) as (host, heads):
        answer = request("POST", f"http://{host}/x?a=b", body=b"{}", allow_private=[host])
    assert (answer.status, answer.whole_body()) == (200, b"hi")
    assert answer.headers["content-type"] == "text/plain"
    assert heads[0].startswith(b"POST /x?a=b HTTP/1.1\r\n")
    assert f"Host: {host}\r\n".encode() in heads[0]


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://10.0.0.8/",
        "https://100.64.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://2130706433/",
        "https://127.1/",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[fe80::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:169.254.169.254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[2002:7f00:1::]/",
        "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    ],
)
def test_addresses_that_are_not_public_are_refused(url: str) -> None:
    """However an inner address is spelt, nothing is connected and the message says why."""
    with pytest.raises(ProviderRejectedError, match="not a public address"):
        request("GET", url)


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1"])
def test_link_local_is_refused_even_where_the_host_is_allowed(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """An allow-list entry for an inner name never opens the way to a metadata service."""
    answer_names(monkeypatch, [address])
    with pytest.raises(ProviderRejectedError, match="not a public address"):
        request("GET", "https://crm.internal/", allow_private=["crm.internal"])


def test_one_bad_address_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a public and an inner address is a trap, not a fallback."""
    answer_names(monkeypatch, ["93.184.215.14", "127.0.0.1"])
    with pytest.raises(ProviderRejectedError, match=r"127\.0\.0\.1"):
        request("GET", "https://api.example.com/")


def test_a_name_is_resolved_once_and_the_judged_address_is_the_one_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second, different answer of the resolver cannot redirect the call."""
    questions = answer_names(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])
    called: list[tuple[str, int]] = []

    class Refusing(socket.socket):
        def connect(self, address: Any) -> None:
            called.append(address)
            raise ConnectionRefusedError("stop here")

    monkeypatch.setattr(socket, "socket", Refusing)
    with pytest.raises(ProviderUnavailableError) as caught:
        request("GET", "https://api.example.com/")
    assert not caught.value.sent
    assert questions == [("api.example.com", 443)]
    assert called == [("93.184.215.14", 443)]


def test_the_next_address_is_tried_when_one_refuses() -> None:
    """A dead first address does not make a host unreachable."""
    with (
        server(say(HEAD + b"Content-Length: 0\r\n\r\n")) as (host, _),
        pytest.MonkeyPatch.context() as patch,
    ):
        port = host.rpartition(":")[2]
        answer_names(patch, ["::1", "127.0.0.1"])
        answer = request("GET", f"http://both.test:{port}/", allow_private=["both.test"])
    assert answer.status == 200


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.com/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("//example.com/", "only http and https"),
        ("https:///x", "only http and https"),
        ("https://user:secret@example.com/", "credentials do not belong"),
        ("http://example.com/", "plain http only if allow_private"),
        ("https://exa\nmple.com/", "not a URL"),
    ],
)
def test_urls_are_read_strictly(url: str, message: str) -> None:
    """What is refused is refused before a name is looked up."""
    with pytest.raises(ProviderRejectedError, match=message):
        request("GET", url)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Key": "a\r\nX-Other: b"},
        {"X Key": "a"},
        {"X-Key": "ü"},
        {"host": "elsewhere"},
        {"Content-Length": "3"},
        {"Transfer-Encoding": "chunked"},
    ],
)
def test_headers_cannot_reframe_the_request(headers: dict[str, str]) -> None:
    """A key that carries a line break stops the call before a byte leaves."""
    with server(say(HEAD + b"\r\n")) as (host, heads), pytest.raises(ProviderRejectedError):
        request("POST", f"http://{host}/", headers=headers, body=b"x", allow_private=[host])
    assert not any(head for head in heads)


def test_redirects_are_answers_not_instructions() -> None:
    """A redirect to an inner address is handed back, never followed."""
    location = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n"
    with server(say(location + b"Content-Length: 0\r\n\r\n")) as (host, heads):
        answer = request("GET", f"http://{host}/", allow_private=[host])
    assert answer.status == 302
    assert len(heads) == 1


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets a variable does not choose where secrets go."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with server(say(HEAD + b"Content-Length: 0\r\n\r\n")) as (host, _):
        assert request("GET", f"http://{host}/", allow_private=[host]).status == 200


def test_nobody_listening_proves_that_nothing_was_sent() -> None:
    """A refused connection is the one failure that is certain."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ProviderUnavailableError, match="refused") as caught:
        request("POST", f"http://{host}/", body=b"x", allow_private=[host])
    assert not caught.value.sent


def test_a_failed_tls_handshake_proves_that_nothing_was_sent() -> None:
    """The request itself leaves only after the certificate was checked."""
    with (
        server(say(b"this is not TLS, whatever the port says\r\n\r\n")) as (host, _),
        pytest.raises(ProviderUnavailableError) as caught,
    ):
        request(
            "POST",
            f"https://{host}/",
            body=b"x",
            allow_private=[host],
            limits=Limits(seconds=0.5),
        )
    assert not caught.value.sent


def test_a_dropped_answer_may_have_been_sent() -> None:
    """The connection closes after the request was read: nobody knows."""
    with server(say(b"")) as (host, _), pytest.raises(ProviderUnavailableError) as caught:
        request("POST", f"http://{host}/", body=b"x", allow_private=[host])
    assert caught.value.sent
