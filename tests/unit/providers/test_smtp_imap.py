"""Mail: the message that is built, and a server's replies read for what they prove."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from typing import Any

import orjson
import pytest

from sweeper.errors import ProviderRejectedError
from sweeper.providers import base
from sweeper.providers.base import Identity, SendResult, Sent, Unknown
from sweeper.providers.mail import compose
from sweeper.providers.smtp_imap import DRIVER
from tests.support.processes import PATIENCE

IDENTITY = Identity("job-1", "mail:1", "<4f2a@landed>")
MAIL = {"to": ["a@example.com"], "subject": "Your receipt", "text": "Paid."}


def built(fields: dict[str, Any], identity: Identity = IDENTITY) -> Any:
    """Build a message and read it back from its bytes."""
    message = compose(identity, orjson.dumps(fields), "Shop <shop@example.com>")
    return message_from_bytes(message.as_bytes(), policy=policy.default)


def test_the_message_id_is_the_handle() -> None:
    """Two builds of one job carry the same Message-ID, whatever else differs."""
    assert [built(MAIL)["Message-ID"] for _ in range(2)] == ["<4f2a@landed>"] * 2


def test_a_long_handle_is_not_rewritten() -> None:
    """Folding may not encode or cut what is searched for later."""
    handle = f"<{'a' * 200}@landed>"
    message = compose(Identity("j", "k", handle), orjson.dumps(MAIL), "s@example.com")
    unfolded = message.as_bytes().replace(b"\r\n ", b" ").replace(b"\n ", b" ")
    assert f"Message-ID: {handle}\r\n".encode() in unfolded.replace(b":  <", b": <")


def test_text_beyond_ascii_travels_in_seven_bits() -> None:
    """No relay has to rewrite the message on its way."""
    message = compose(IDENTITY, orjson.dumps(MAIL | {"text": "Grüße", "subject": "Ü"}), "s@x.de")
    raw = message.as_bytes()
    assert raw.isascii()
    plain = built(MAIL | {"text": "Grüße", "html": "<p>ü</p>"}).get_body(("plain",))
    assert plain.get_content().strip() == "Grüße"


@pytest.mark.parametrize(
    "change",
    [
        {"to": []},
        {"to": None},
        {"to": ["nobody"]},
        {"to": "a@example.com\r\nBcc: x@example.com"},
        {"subject": "a\r\nBcc: x@example.com"},
        {"to": ["ü@example.com"]},
        {"to": [1]},
        {"cc": ["@example.com"]},
    ],
)
def test_payloads_that_are_no_mail_are_refused(change: dict[str, Any]) -> None:
    """A payload cannot add a header or a recipient that was not asked for."""
    with pytest.raises(ProviderRejectedError):
        DRIVER.send(IDENTITY, orjson.dumps(MAIL | change), {"smtp": {"from": "s@example.com"}})


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "4f2a@landed",
        "<4f2a>",
        "<a b@landed>",
        '<a"@landed>',
        "<a@landed>\r\nX: y",
        "<ü@landed>",
        "<a\\@l>",
    ],
)
def test_handles_that_cannot_be_message_ids_are_refused(handle: str) -> None:
    """Neither a header nor a search is built from such text."""
    identity = Identity("j", "k", handle)
    with pytest.raises(ProviderRejectedError, match="cannot be a Message-ID"):
        compose(identity, orjson.dumps(MAIL), "s@example.com")
    config = {"imap": {"host": "127.0.0.1"}}
    assert isinstance(base.look_up(DRIVER, identity, config), Unknown)


Talk = Callable[[socket.socket, Any], None]


@contextmanager
def server(talk: Talk) -> Iterator[dict[str, Any]]:
    """Serve one connection on loopback; give the configuration that leads there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as lines:
                    talk(connection, lines)
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        where = {"host": "127.0.0.1", "port": listener.getsockname()[1], "security": "none"}
        yield {
            "smtp": {**where, "from": "shop@example.com"},
            "imap": where,
            "allow_private": ["127.0.0.1"],
            "timeout_seconds": 0.5,
        }
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def smtp(final: bytes | None, refuse: bytes = b"") -> Talk:
    """Speak enough SMTP; refuse one verb, or end the message with a reply (None: hang up)."""

    def talk(connection: socket.socket, lines: Any) -> None:
        connection.sendall(b"220 test\r\n")
        for line in lines:
            verb = line[:4].upper().strip()
            if refuse and verb == refuse:
                connection.sendall(b"550 no\r\n")
            elif verb == b"DATA":
                connection.sendall(b"354 go\r\n")
                while lines.readline() != b".\r\n":
                    pass
                if final is None:
                    return
                connection.sendall(final)
            else:
                connection.sendall(b"250 fine\r\n")

    return talk


def sent(talk: Talk) -> SendResult:
    """Send one mail to a server."""
    with server(talk) as config:
        return base.send(DRIVER, IDENTITY, orjson.dumps(MAIL), config)


def test_accepted_means_the_reply_to_the_message() -> None:
    """250 after the last dot, and the handle is the reference."""
    result = sent(smtp(b"250 queued as 7\r\n"))
    assert (result.outcome, result.provider_ref) == (Sent.ACCEPTED, "<4f2a@landed>")


@pytest.mark.parametrize("verb", [b"EHLO", b"MAIL", b"RCPT", b"DATA"])
def test_a_refusal_before_the_message_proves_that_nothing_was_sent(verb: bytes) -> None:
    """Until DATA was ended nobody got anything."""
    refusing = smtp(b"250 ok\r\n", refuse=verb)
    expected = Sent.ACCEPTED if verb == b"EHLO" else Sent.REJECTED  # HELO is the fallback
    assert sent(refusing).outcome is expected


def test_a_refusal_of_the_message_is_a_refusal() -> None:
    """A reply, even a late one, is the server's word."""
    assert sent(smtp(b"554 spam\r\n")).outcome is Sent.REJECTED
    assert sent(smtp(b"451 later\r\n")).outcome is Sent.REJECTED


@pytest.mark.parametrize("final", [None, b"", b"2", b"nonsense\r\n", b"250-and so on\r\n" * 200])
def test_no_readable_reply_to_the_message_is_unknown(final: bytes | None) -> None:
    """The body has left: it may or may not have been taken."""
    assert sent(smtp(final)).outcome is Sent.UNKNOWN


@pytest.mark.parametrize(
    "talk",
    [
        pytest.param(lambda connection, lines: None, id="hangs up"),
        pytest.param(lambda connection, lines: lines.readline(), id="says nothing"),
        pytest.param(
            lambda connection, lines: connection.sendall(b"HTTP/1.1 400\r\n"), id="no SMTP"
        ),
        pytest.param(lambda connection, lines: connection.sendall(b"421 busy\r\n"), id="is busy"),
    ],
)
def test_a_server_that_never_took_a_message_had_no_effect(talk: Talk) -> None:
    """Whatever goes wrong before DATA is a proof."""
    assert sent(talk).outcome is Sent.REJECTED


def drip(connection: socket.socket, _: Any) -> None:
    """Send a byte every 50 ms for as long as somebody listens."""
    while True:
        connection.sendall(b"2")
        time.sleep(0.05)


def test_dripping_servers_are_cut_at_the_deadline() -> None:
    """A timeout on each read would wait for ever here."""
    started = time.monotonic()
    with server(drip) as config:
        assert base.send(DRIVER, IDENTITY, orjson.dumps(MAIL), config).outcome is Sent.REJECTED
    with server(drip) as config:
        assert isinstance(base.look_up(DRIVER, IDENTITY, config), Unknown)
    assert time.monotonic() - started < PATIENCE


def imap(*searched: bytes, fetched: bytes = b"") -> Talk:
    """Speak enough IMAP: answer SEARCH and FETCH with these lines."""

    def talk(connection: socket.socket, lines: Any) -> None:
        connection.sendall(b"* OK [CAPABILITY IMAP4rev1] test\r\n")
        for line in lines:
            tag, verb = line.split()[0], line.upper()
            if b"SEARCH" in verb:
                connection.sendall(b"".join(searched))
            if b"FETCH" in verb:
                connection.sendall(fetched)
            connection.sendall(tag + b" OK done\r\n")

    return talk


@pytest.mark.parametrize(
    "talk",
    [
        pytest.param(lambda connection, lines: None, id="hangs up"),
        pytest.param(lambda connection, lines: connection.sendall(b"* BYE\r\n"), id="says bye"),
        pytest.param(imap(b"* SEARCH " + b"1 " * 60 + b"\r\n"), id="too many candidates"),
        pytest.param(
            imap(b"* SEARCH 1\r\n", fetched=b"* 1 FETCH (X {999999999}\r\n"), id="huge literal"
        ),
        pytest.param(imap(b"* 1 EXISTS\r\n" * 300_000), id="endless chatter"),
    ],
)
def test_an_imap_server_that_misbehaves_is_inconclusive(talk: Talk) -> None:
    """Nothing a server does wrong reads as an empty mailbox."""
    with server(talk) as config:
        assert isinstance(base.look_up(DRIVER, IDENTITY, config), Unknown)


def test_clear_text_needs_an_operators_word() -> None:
    """Passwords and mail leave in the clear only to hosts an operator has named."""
    config = {"smtp": {"host": "mail.example.com", "security": "none", "from": "s@example.com"}}
    result = base.send(DRIVER, IDENTITY, orjson.dumps(MAIL), config)
    assert (result.outcome, "without TLS" in result.reason) == (Sent.REJECTED, True)
    looked = base.look_up(
        DRIVER, IDENTITY, {"imap": {"host": "mail.example.com", "security": "none"}}
    )
    assert isinstance(looked, Unknown)
