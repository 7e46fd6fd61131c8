"""What is particular to a provider: stored errors, other contents, drafts, tokens, sleepers."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import orjson
import pytest
from django.conf import settings
from psycopg import sql

from ledger import roles
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from sweeper.providers.base import Absent, Found, Sent, Unknown
from sweeper.providers.http_template import header_value
from sweeper.transport import request
from tests.support.gmail import Gmail
from tests.support.processes import PATIENCE
from tests.support.rigs import (
    IDENTITY,
    PAYLOAD,
    REACH,
    Rig,
    Woken,
    gmail_rig,
    http_rig,
    n8n_rig,
    postgres_rig,
    s3_rig,
)

Make = Callable[[Callable[[ExitStack], Rig]], Rig]


@pytest.fixture
def make() -> Iterator[Make]:
    """Start a rig that ends with the test."""
    with ExitStack() as stack:
        yield lambda kind: kind(stack)


def stripe_like(stack: ExitStack) -> Rig:
    """Speak to a provider that stores its answers under the key."""
    return http_rig(stack, "http_key", "charges", unique=True, asks=True)


def fail_next(rig: Rig, **fault: Any) -> None:
    """Let the provider answer its next request with an error."""
    url = rig.config["send"]["url"].replace("/charges", "/_mock/fail")
    assert request("POST", url, body=orjson.dumps(fault), allow_private=["127.0.0.1"]).status == 200


# -- a provider that keeps keys ------------------------------------------------------------------


@pytest.mark.parametrize("happened", [True, False])
def test_a_stored_500_is_unknown_and_told_from_a_fresh_one(make: Make, happened: bool) -> None:
    """The first error may hide an effect; the repeat is the same error again, for ever."""
    rig = make(stripe_like)
    fail_next(rig, status=500, after_effect=happened)
    first, repeat = rig.send(), rig.send()
    assert (first.outcome, first.http_status, first.replayed) == (Sent.UNKNOWN, 500, False)
    assert (repeat.outcome, repeat.http_status, repeat.replayed) == (Sent.UNKNOWN, 500, True)
    assert rig.count(IDENTITY) == int(happened)
    assert isinstance(rig.look_up(), Found if happened else Absent)


def test_other_parameters_under_the_same_key_are_refused(make: Make) -> None:
    """A 4xx: this send did nothing, whatever an earlier one did."""
    rig = make(stripe_like)
    rig.send()
    other = replace(rig, payload=b'{"amount": 13}').send()
    assert (other.outcome, other.http_status) == (Sent.REJECTED, 400)
    assert "other parameters" in other.reason
    assert rig.count(IDENTITY) == 1


def test_a_key_whose_first_request_runs_is_waited_for(make: Make) -> None:
    """409 says that another request of the same key is under way: nobody knows its end yet."""
    rig = make(stripe_like)
    with running(MockProvider(("127.0.0.1", 0))) as provider:
        provider.effects._begin(header_value(IDENTITY.provider_key), "digest")
        send = {"send": rig.config["send"] | {"url": f"{provider.url}/charges"}}
        result = rig.send(**send)
    assert (result.outcome, result.http_status) == (Sent.UNKNOWN, 409)


def test_a_key_can_travel_in_a_shorter_form(make: Make) -> None:
    """The provider sees the same short key on every attempt."""
    rig = make(stripe_like)
    send = {"send": rig.config["send"] | {"key": "{digest:32}", "add": {"reference": "{uuid}"}}}
    assert [rig.send(**send).replayed for _ in range(2)] == [False, True]


# -- a table ---------------------------------------------------------------------------------------


def test_a_row_with_other_values_is_neither_changed_nor_claimed(make: Make) -> None:
    """Whose row it is, a person has to say."""
    rig = make(postgres_rig)
    rig.send()
    other = replace(rig, payload=b'{"amount": 99}').send()
    assert other.outcome is Sent.REJECTED
    assert "other values" in other.reason
    assert rig.send().replayed


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (b'{"amount": 0.10000000000000000000000001}', Sent.ACCEPTED),
        (b'{"amount": 1, "more": {"a": [1.10]}}', Sent.ACCEPTED),
        (b"{}", Sent.ACCEPTED),
        (b'{"landed_key": "charge:order 1/\xc3\xbc:v1"}', Sent.ACCEPTED),
        (b'{"landed_key": "another"}', Sent.REJECTED),
        (b'{"no_such_column": 1}', Sent.REJECTED),
        (b'{"amount": "many"}', Sent.REJECTED),
        (b"[1]", Sent.REJECTED),
        (b"{", Sent.REJECTED),
    ],
)
def test_what_a_row_can_be(make: Make, payload: bytes, outcome: Sent) -> None:
    """No number is rounded, no member is dropped, and the same again is the same row."""
    rig = replace(make(postgres_rig), payload=payload)
    assert (rig.send().outcome, rig.send().outcome) == (outcome, outcome)
    assert rig.count(IDENTITY) == int(outcome is Sent.ACCEPTED)


@pytest.mark.parametrize("spoilt", [{"key_column": "currency"}, {"table": "nowhere.at_all"}])
def test_a_table_that_does_not_enforce_the_key_is_not_written(
    make: Make, spoilt: dict[str, str]
) -> None:
    """Without a unique index the server itself refuses the statement."""
    rig = make(postgres_rig)
    assert rig.send(**spoilt).outcome is Sent.REJECTED
    assert rig.count(IDENTITY) == 0


def test_a_database_is_called_in_the_clear_only_where_it_is_ours(make: Make) -> None:
    """And with TLS its certificate is checked, so a plain server is not talked to."""
    rig = make(postgres_rig)
    assert "without TLS only if" in rig.send(allow_private=[]).reason
    refused = rig.send(security="tls")
    assert (refused.outcome, rig.count(IDENTITY)) == (Sent.REJECTED, 0)
    assert "SSL" in refused.reason


def test_a_database_that_does_not_answer_is_cut_at_the_limit(make: Make) -> None:
    """Somebody else's transaction holds the key: whether the insert went through, nobody knows."""
    rig = make(postgres_rig)
    started = time.monotonic()
    with roles.connect(settings.DB_OWNER) as other, other.transaction(force_rollback=True):
        table = sql.Identifier(*rig.config["table"].split("."))
        other.execute(
            sql.SQL("INSERT INTO {} (landed_key) VALUES (%s)").format(table),
            [IDENTITY.provider_key],
        )
        blocked = rig.send(timeout_seconds=0.5)
    assert blocked.outcome is Sent.UNKNOWN
    assert time.monotonic() - started < PATIENCE


def test_a_server_that_never_speaks_was_sent_nothing(make: Make) -> None:
    """It accepts and stays silent: no statement left, so that is a proof."""
    rig = make(postgres_rig)
    started = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refused = rig.send(port=listener.getsockname()[1], timeout_seconds=0.5)
    assert (refused.outcome, rig.count(IDENTITY)) == (Sent.REJECTED, 0)
    assert time.monotonic() - started < PATIENCE


# -- a store of objects ----------------------------------------------------------------------------


def test_an_object_with_another_content_is_not_replaced(make: Make) -> None:
    """The store refuses the put, and the digest beside the object says that it is another one."""
    rig = make(s3_rig)
    rig.send()
    other = replace(rig, payload=b"{}").send()
    assert (other.outcome, other.http_status) == (Sent.REJECTED, 412)
    assert "another content" in other.reason


def test_a_bucket_that_is_not_there_proves_no_absence_of_an_effect(make: Make) -> None:
    """A put into it did nothing."""
    rig = make(s3_rig)
    assert rig.send(bucket="nowhere").outcome is Sent.REJECTED


# -- Gmail -----------------------------------------------------------------------------------------


def test_a_token_is_fetched_once_and_renewed_when_it_is_refused(make: Make) -> None:
    """A 401 did nothing, and the next call brings a new token."""
    rig = make(gmail_rig)
    with running(Gmail()) as mailbox:
        reach = {
            "url": mailbox.url,
            "oauth": rig.config["oauth"] | {"url": f"{mailbox.url}/token"},
        }
        assert [rig.send(**reach).outcome for _ in range(2)] == [Sent.ACCEPTED] * 2
        assert mailbox.valid == "ya29.1"
        mailbox.valid = "revoked"
        assert (rig.send(**reach).outcome, rig.send(**reach).outcome) == (
            Sent.REJECTED,
            Sent.ACCEPTED,
        )
        assert mailbox.valid == "ya29.2"


def test_no_token_proves_that_nothing_was_sent(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the answer of the token server, which may repeat secrets, is not shown."""
    rig = make(gmail_rig)
    monkeypatch.setenv("LANDED_SECRET_CLIENT_SECRET", "wrong")
    refused = rig.send()
    assert (refused.outcome, rig.count(IDENTITY)) == (Sent.REJECTED, 0)
    assert "no access token" in refused.reason
    assert "wrong" not in refused.reason
    assert isinstance(rig.look_up(), Unknown)


def test_a_draft_is_no_sent_mail(make: Make) -> None:
    """Nor is it an absence."""
    rig = make(gmail_rig)
    with running(Gmail()) as mailbox:
        mailbox.label = "DRAFT"
        reach = {
            "url": mailbox.url,
            "oauth": rig.config["oauth"] | {"url": f"{mailbox.url}/token"},
        }
        rig.send(**reach)
        answer = rig.look_up(**reach)
    assert isinstance(answer, Unknown)
    assert "draft" in answer.reason


# -- n8n -------------------------------------------------------------------------------------------


def test_a_workflow_that_is_not_active_was_not_woken(make: Make) -> None:
    """The message names what to do."""
    rig = make(n8n_rig)
    asleep = rig.send(url=rig.config["url"] + "-asleep")
    assert (asleep.outcome, asleep.http_status) == (Sent.REJECTED, 404)
    assert "active" in asleep.reason


def test_a_wake_whose_claim_was_lost_is_an_accepted_repeat() -> None:
    """n8n answers 500 where the last node had nothing to return: the event was taken before."""
    with running(Woken()) as woken:
        woken.last_node = True
        rig = Rig(
            "n8n_webhook",
            {"url": f"{woken.url}/webhook/paid", **REACH},
            PAYLOAD,
            lambda _: 0,
            lambda _: None,
            unique=True,
        )
        first, again = rig.send(), rig.send()
    assert (first.outcome, first.replayed) == (Sent.ACCEPTED, False)
    assert (again.outcome, again.replayed) == (Sent.ACCEPTED, True)
