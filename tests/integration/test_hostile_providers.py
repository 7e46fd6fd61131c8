"""A provider's address is data that people edit: what attacks do, and what an operator reads."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from sweeper.providers import base
from sweeper.providers.base import Identity, LookUp, SendResult, Sent, Unknown
from tests.support.hostile import HEAD, answer_names, drip, flood, say, server
from tests.support.processes import PATIENCE

IDENTITY = Identity("job-1", "charge:1", "<1@landed>")
METADATA = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\n"


def config(url: str, *allowed: str) -> dict[str, Any]:
    """Describe a provider at this address, with a short limit."""
    return {
        "send": {"url": url},
        "look_up": {"url": url, "items": "data", "match": "id"},
        "allow_private": list(allowed),
        "timeout_seconds": 0.5,
    }


def both(url: str, *allowed: str) -> tuple[SendResult, LookUp]:
    """Send to it and ask it."""
    driver, described = base.load("http_key"), config(url, *allowed)
    assert driver is not None
    sent = base.send(driver, IDENTITY, b"{}", described)
    return sent, base.look_up(driver, IDENTITY, described)


def refused(sent: SendResult, looked: LookUp, words: str) -> None:
    """See that nothing was sent, nothing was learned, and both say why."""
    assert (sent.outcome, type(looked)) == (Sent.REJECTED, Unknown)
    assert words in sent.reason
    assert words in base.words(looked)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("169.254.169.254", "is at 169.254.169.254, which is not a public address"),
        ("::ffff:169.254.169.254", "is at ::ffff:169.254.169.254, which is not a public address"),
        ("::ffff:10.0.0.8", "is at ::ffff:10.0.0.8, which is not a public address"),
        ("10.0.0.8", "name the host in allow_private if it is yours"),
    ],
)
def test_a_name_that_leads_inside_is_not_called(
    monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    """Whatever family the address is written in."""
    answer_names(monkeypatch, [address])
    refused(*both("https://api.example.com/"), words)


def test_a_name_that_changes_its_mind_is_not_followed_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: each call resolves once and judges what it is about to connect to."""
    with server(say(HEAD + b"Content-Length: 2\r\n\r\n{}")) as (host, heads):
        port = host.rpartition(":")[2]
        questions = answer_names(monkeypatch, ["127.0.0.1"])
        refused(*both(f"https://rebind.example.com:{port}/"), "not a public address")
        assert (len(questions), heads) == (2, [])


def test_an_allowed_name_is_never_led_to_the_metadata_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list opens the way to a host of ours, not to whatever its name says tomorrow."""
    answer_names(monkeypatch, ["169.254.169.254"])
    refused(*both("https://crm.internal/", "crm.internal"), "never called, allowed or not")


def test_a_redirect_is_told_and_not_followed() -> None:
    """Nobody knows what the first address did: the send is unknown, the reason says what to do."""
    with server(say(METADATA + b"Content-Length: 0\r\n\r\n")) as (host, heads):
        sent, looked = both(f"http://{host}/", host)
    assert (sent.outcome, sent.http_status, len(heads)) == (Sent.UNKNOWN, 302, 2)
    for words in (sent.reason, base.words(looked)):
        assert "a redirect to http://169.254.169.254/latest/meta-data/" in words
        assert "put the final address into the provider" in words


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (drip(b"", b"H"), "no complete answer within 0.5 s"),
        (drip(b"HTTP/1.1 200 OK\r\nX: ", b"a"), "no complete answer within 0.5 s"),
    ],
    ids=["status line", "headers"],
)
def test_a_provider_that_drips_costs_no_more_than_the_limit(
    talk: Callable[..., None], words: str
) -> None:
    """Slow-loris, the other way round: the whole call has one deadline."""
    started = time.monotonic()
    with server(talk) as (host, _):
        sent, looked = both(f"http://{host}/", host)
    assert time.monotonic() - started < PATIENCE
    assert (sent.outcome, type(looked)) == (Sent.UNKNOWN, Unknown)
    assert words in sent.reason
    assert words in base.words(looked)


def test_a_gigabyte_is_not_read() -> None:
    """The status of the send stands; a look-up is not judged by a part."""
    with server(flood) as (host, _):
        sent, looked = both(f"http://{host}/", host)
    assert (sent.outcome, sent.result, sent.provider_ref) == (Sent.ACCEPTED, None, None)
    assert isinstance(looked, Unknown)
    assert "larger than 1048576 bytes" in looked.reason


def test_a_database_of_a_name_that_leads_inside_is_not_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What holds for HTTP holds for the other ways out."""
    answer_names(monkeypatch, ["169.254.169.254"])
    monkeypatch.setenv("LANDED_SECRET_PG", "x")
    described = {
        "host": "db.example.com",
        "database": "shop",
        "user": "landed",
        "password_env": "LANDED_SECRET_PG",
        "table": "public.rows",
        "key_column": "k",
    }
    mail = {"host": "mail.example.com", "from": "a@example.com"}
    written = b'{"to": "b@example.com"}'
    for name, settings, payload in (
        ("postgres_row", described, b"{}"),
        ("smtp_imap", {"smtp": mail}, written),
    ):
        driver = base.load(name)
        assert driver is not None
        sent = base.send(driver, IDENTITY, payload, settings)
        assert sent.outcome is Sent.REJECTED
        assert "169.254.169.254, which is not a public address" in sent.reason
