"""What every driver must do, tried on a real server of its kind.

A rig is one driver with its server: it can lose the next answer before or after the provider took
the request, and it counts effects where they happen, never at the caller.
"""

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import orjson
import pytest

from sweeper import mail_transport, transport
from sweeper.errors import ProviderRejectedError
from sweeper.providers.base import Absent, Found, Identity, Sent, Unknown
from tests.support import dovecot
from tests.support.rigs import (
    IDENTITY,
    Rig,
    gmail_rig,
    http_rig,
    mail_rig,
    n8n_rig,
    postgres_rig,
    s3_rig,
)

OTHERS = [
    Identity("job-2", "charge:order 1/ü:v10", "<4F2A9C@landed>"),
    Identity("job-3", "charge:order 1/ü:v", "<f2a9c@landed>"),
    Identity("job-4", "CHARGE:order 1/ü:v1", "<4f2a9c0@landed>"),
]


@pytest.fixture(scope="module")
def mailserver() -> Iterator[Callable[[], dovecot.Mailserver]]:
    """Run one Dovecot for all tests that ask for it."""
    with ExitStack() as stack:

        @cache
        def start() -> dovecot.Mailserver:
            binary = dovecot.program()
            if binary is None:
                reason = "Dovecot is missing (apt-get install dovecot-imapd dovecot-lmtpd)"
                if os.environ.get("CI"):
                    pytest.fail(reason)
                pytest.skip(reason)
            return stack.enter_context(dovecot.mailserver(binary))

        yield start


RIGS: dict[str, Callable[[ExitStack, Callable[[], dovecot.Mailserver]], Rig]] = {
    "http_key": lambda s, _: http_rig(s, "http_key", "charges", unique=True, asks=True),
    "webhook_log": lambda s, _: http_rig(s, "webhook", "mail", unique=False, asks=True),
    "webhook_blind": lambda s, _: http_rig(s, "webhook", "hook", unique=False, asks=False),
    "postgres_row": lambda s, _: postgres_rig(s),
    "s3_put": lambda s, _: s3_rig(s),
    "gmail": lambda s, _: gmail_rig(s),
    "n8n_webhook": lambda s, _: n8n_rig(s),
    "mail_clear": lambda s, server: mail_rig(s, server(), "none"),
    "mail_starttls": lambda s, server: mail_rig(s, server(), "starttls"),
    "mail_tls": lambda s, server: mail_rig(s, server(), "tls"),
}


@pytest.fixture(params=RIGS)
def rig(
    request: pytest.FixtureRequest, mailserver: Callable[[], dovecot.Mailserver]
) -> Iterator[Rig]:
    """Run one driver's server."""
    with ExitStack() as stack:
        yield RIGS[request.param](stack, mailserver)


def test_an_accepted_send_is_one_effect_and_is_found(rig: Rig) -> None:
    """The happy path, and the reference a person can look for."""
    result = rig.send()
    assert (result.outcome, result.reason, rig.count(IDENTITY)) == (Sent.ACCEPTED, "", 1)
    assert result.provider_ref or not rig.tells
    if rig.asks:
        found = rig.look_up()
        assert isinstance(found, Found)
        assert found.provider_ref


def test_what_was_never_sent_is_absent(rig: Rig) -> None:
    """A complete answer without the effect; a blind provider has no answer."""
    assert isinstance(rig.look_up(), Absent if rig.asks else Unknown)


def test_a_lost_answer_is_unknown_and_the_look_up_finds_it(rig: Rig) -> None:
    """The ambiguous case: accepted at the provider, never heard by the caller."""
    rig.lose_next("after")
    assert rig.send().outcome is Sent.UNKNOWN
    assert rig.count(IDENTITY) == 1
    assert isinstance(rig.look_up(), Found if rig.asks else Unknown)


def test_a_send_cut_before_the_provider_is_unknown_and_absent(rig: Rig) -> None:
    """The caller cannot tell it from a lost answer; the look-up can."""
    rig.lose_next("before")
    assert rig.send().outcome is Sent.UNKNOWN
    assert rig.count(IDENTITY) == 0
    assert isinstance(rig.look_up(), Absent if rig.asks else Unknown)


def test_the_same_send_twice_is_one_effect_only_where_that_is_enforced(rig: Rig) -> None:
    """Idempotency is a property of the receiver."""
    results = [rig.send() for _ in range(2)]
    assert [result.outcome for result in results] == [Sent.ACCEPTED, Sent.ACCEPTED]
    assert rig.count(IDENTITY) == (1 if rig.unique else 2)
    assert results[1].replayed == (rig.unique and rig.tells)
    if rig.asks:
        assert isinstance(rig.look_up(), Found)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.handle)
def test_a_similar_identity_is_not_the_same(rig: Rig, other: Identity) -> None:
    """Searches may be lax, the comparison is byte for byte."""
    rig.send(other)
    assert isinstance(rig.look_up(), Absent if rig.asks else Unknown)
    assert isinstance(rig.look_up(other), Found if rig.asks else Unknown)


def test_a_look_up_changes_nothing(rig: Rig) -> None:
    """Asking ten times is as good as once."""
    rig.send()
    for _ in range(10):
        rig.look_up()
    assert rig.count(IDENTITY) == 1


def test_a_wrong_configuration_is_refused_before_anything_is_sent(rig: Rig) -> None:
    """Rejected is a proof, so every setting is read first."""
    sections = [name for name, value in rig.config.items() if isinstance(value, dict)]
    names = ("url", "headers", "add", "ref", "key_header", "host", "port", "security", "from")
    names += ("endpoint", "bucket", "name", "table", "key", "user")
    for name in names:
        spoilt = {part: rig.config[part] | {name: object()} for part in sections}
        result = rig.send(**(spoilt or {name: object()}))
        assert (result.outcome is Sent.REJECTED) == ("configuration" in result.reason), name
    assert rig.send(timeout_seconds="soon").outcome is Sent.REJECTED
    assert rig.send(allow_private="127.0.0.1").outcome is Sent.REJECTED


def test_a_configuration_is_checked_before_anybody_relies_on_it(rig: Rig) -> None:
    """What works passes, and a misspelt setting is named."""
    rig.driver.check(rig.config)
    with pytest.raises(ProviderRejectedError, match=r"misspelt is no setting; known are"):
        rig.driver.check(rig.config | {"misspelt": 1})
    for name, value in rig.config.items():
        if isinstance(value, dict) and name not in ("add", "headers"):
            with pytest.raises(ProviderRejectedError, match=rf"{name}\.misspelt is no setting"):
                rig.driver.check(rig.config | {name: value | {"misspelt": 1}})
        with pytest.raises(ProviderRejectedError, match="provider configuration"):
            rig.driver.check(rig.config | {name: object()})


def test_a_host_that_was_not_allowed_is_not_called(rig: Rig) -> None:
    """Loopback is somebody's private network until an operator names it."""
    assert rig.send(allow_private=[]).outcome is Sent.REJECTED
    assert isinstance(rig.look_up(allow_private=[]), Unknown)
    assert rig.count(IDENTITY) == 0


def test_a_provider_that_is_away_gets_nothing_and_proves_nothing(rig: Rig) -> None:
    """No connection proves that nothing was sent, and nothing about earlier sends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    moved = orjson.loads(
        re.sub(rb'("port":|127\.0\.0\.1:)\d+', rb"\g<1>%d" % port, orjson.dumps(rig.config))
    )
    assert rig.send(**moved).outcome is Sent.REJECTED
    assert isinstance(rig.look_up(**moved), Unknown)
    assert rig.count(IDENTITY) == 0


def test_a_certificate_nobody_vouches_for_is_refused(
    mailserver: Callable[[], dovecot.Mailserver], monkeypatch: pytest.MonkeyPatch
) -> None:
    """TLS without a check would be no protection of the password."""
    with ExitStack() as stack:
        rig = mail_rig(stack, mailserver(), "tls")
        monkeypatch.setattr(mail_transport, "tls_context", transport.tls_context)
        looked = rig.look_up()
        assert isinstance(looked, Unknown)
        assert "certificate" in looked.reason.lower()
        assert rig.send().outcome is Sent.REJECTED
