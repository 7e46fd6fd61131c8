"""The relay of the outbox: to whoever subscribed, at least once; one bad message stops no other."""

import socket
from collections.abc import Iterator
from email import message_from_bytes
from typing import Any

import psycopg
import pytest
from aiosmtpd.controller import Controller
from pytest_django import Settings

from ledger.errors import NotRecordedError
from ledger.models import Liveness, OutboxMessage
from sweeper import outbox, subscribers
from sweeper.killmatrix.server import running
from tests.support import messages
from tests.support.conflicts import decide_open
from tests.support.doors import PythonDoor
from tests.support.factories import Shop, in_review
from tests.support.subscriber import Subscriber

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(owner_sql: psycopg.Connection) -> Shop:
    """Open the shop."""
    return Shop(PythonDoor(), owner_sql)


@pytest.fixture
def webhook(settings: Settings) -> Iterator[Subscriber]:
    """Run a webhook that an operator allows."""
    with running(Subscriber()) as server:
        settings.LANDED_PRIVATE_HOSTS = [server.host]
        yield server


def subscribe(shop: Shop, webhook: Subscriber, path: str = "/decided") -> None:
    """Let the workflow be told of decisions."""
    shop.owner.execute(
        "UPDATE workflows SET decision_webhook = %s WHERE name = 'shop'", [webhook.url + path]
    )


def relay() -> dict[str, int]:
    """Run one tick; return what it counted."""
    done = outbox.run_once()
    assert (done.outcome, done.report is None) == ("ran", False)
    assert done.report is not None
    return {name: value for name, value in done.report.as_json().items() if value}


def decide(shop: Shop) -> dict[str, Any]:
    """Let a person decide; return the conflict."""
    in_review(shop)
    return decide_open(shop, "landed", statement="seen")


# -- decisions -----------------------------------------------------------------------------------


def test_a_decision_is_told_to_its_workflow_once(shop: Shop, webhook: Subscriber) -> None:
    """With the key by which it dedups; then there is nothing more to tell."""
    subscribe(shop, webhook)
    conflict = decide(shop)
    assert relay() == {"delivered": 1, "unsubscribed": 1}
    (heard,) = webhook.notes.heard
    assert heard.path == "/decided"
    assert heard.key == f"conflict.decided:{heard.body['key']}"
    assert heard.body["payload"]["conflict_id"] == conflict["id"]
    assert heard.body["payload"]["decision"] == "landed"
    assert (heard.body["workflow"], heard.body["topic"]) == ("shop", "conflict.decided")
    assert relay() == {}
    assert len(webhook.notes.heard) == 1
    assert not OutboxMessage.objects.filter(published_at=None).exists()


def test_without_a_subscriber_nothing_waits(shop: Shop) -> None:
    """Polling always works; a message nobody asked for is over."""
    decide(shop)
    assert relay() == {"unsubscribed": 2}
    assert not OutboxMessage.objects.filter(published_at=None).exists()


def test_a_message_about_an_unknown_matter_or_workflow_is_over(shop: Shop) -> None:
    """There is nobody to ask."""
    messages.put(shop, 1, topic="something.else")
    messages.put(shop, 2, workflow="gone")
    assert relay() == {"unsubscribed": 2}


def test_a_resend_is_told_only_when_it_cannot_be_taken_back(
    shop: Shop, webhook: Subscriber
) -> None:
    """At the end of the undo window; a withdrawn one is never told."""
    subscribe(shop, webhook)
    in_review(shop)
    decide_open(shop, "resend", risk_acknowledged=True)
    relay()
    assert webhook.notes.heard == []
    (conflict,) = shop.rows("conflicts")
    shop.run(
        "withdraw_decision",
        conflict_id=conflict["id"],
        lock_version=conflict["lock_version"],
        reason="no",
    )
    messages.due(shop)
    relay()
    assert webhook.notes.heard == []


# -- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 404, 500])
def test_an_answer_that_is_no_success_is_tried_again(
    shop: Shop, webhook: Subscriber, status: int
) -> None:
    """Later, under the same key, and with the reason on the row."""
    subscribe(shop, webhook)
    webhook.notes.answers[:] = [status]
    row = messages.put(shop)
    assert relay() == {"failed": 1}
    failed = shop.row("outbox", row["id"])
    assert (failed["published_at"], failed["last_error"]) == (
        None,
        f"the webhook answered {status}",
    )
    assert relay() == {}
    messages.due(shop)
    assert relay() == {"delivered": 1}
    assert len({heard.key for heard in webhook.notes.heard}) == 1


def test_a_subscriber_that_stays_away_ends_with_a_person(shop: Shop, webhook: Subscriber) -> None:
    """After the policy's horizon."""
    subscribe(shop, webhook)
    webhook.notes.answers[:] = [500]
    row = messages.put(shop)
    messages.grow_old(shop)
    assert relay() == {"given_up": 1}
    assert shop.row("outbox", row["id"])["waiting_since"] is not None
    messages.due(shop)
    assert relay() == {}


def test_an_address_nobody_allowed_is_not_called(
    shop: Shop, webhook: Subscriber, settings: Settings
) -> None:
    """A webhook is configuration, and configuration may be hostile."""
    settings.LANDED_PRIVATE_HOSTS = []
    subscribe(shop, webhook)
    row = messages.put(shop)
    assert relay() == {"failed": 1}
    assert "plain http" in shop.row("outbox", row["id"])["last_error"]
    assert webhook.notes.heard == []


def test_one_bad_message_stops_no_other(
    shop: Shop, webhook: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong with it is noted on its row."""
    subscribe(shop, webhook)
    for n in range(3):
        messages.put(shop, n)
    deliver = subscribers.deliver

    def fail_on_one(message: subscribers.Message) -> int:
        if message.payload == {"n": 1}:
            raise ZeroDivisionError("a bug")
        return deliver(message)

    monkeypatch.setattr(outbox, "deliver", fail_on_one)
    assert relay() == {"delivered": 2, "failed": 1}
    (failed,) = [row for row in shop.rows("outbox") if row["published_at"] is None]
    assert failed["last_error"] == "ZeroDivisionError: a bug"


def test_a_relay_that_dies_between_sending_and_noting_sends_again(
    shop: Shop, webhook: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One effect at a receiver that dedups on the key; no proof of life for a tick that died."""
    subscribe(shop, webhook)
    messages.put(shop)

    def die(**_more: Any) -> Any:
        raise NotRecordedError("the database went away")

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "publish_outbox", die)
        with pytest.raises(NotRecordedError):
            outbox.run_once()
    assert not Liveness.objects.filter(name="relay_outbox").exists()
    messages.due(shop)
    assert relay() == {"delivered": 1}
    assert len(webhook.notes.heard) == 2
    assert len({heard.key for heard in webhook.notes.heard}) == 1


def test_many_messages_are_relayed_in_one_tick(shop: Shop, webhook: Subscriber) -> None:
    """The oldest first."""
    subscribe(shop, webhook)
    for n in range(45):
        messages.put(shop, n)
    assert relay() == {"delivered": 45}
    assert [heard.body["payload"]["n"] for heard in webhook.notes.heard] == list(range(45))


# -- alerts --------------------------------------------------------------------------------------


def test_an_open_question_is_told_to_the_alert_webhook(
    shop: Shop, webhook: Subscriber, settings: Settings
) -> None:
    """Only where one is configured."""
    settings.LANDED_ALERT_WEBHOOK = f"{webhook.url}/alert"
    in_review(shop)
    assert relay() == {"delivered": 1}
    (heard,) = webhook.notes.heard
    assert (heard.path, heard.body["topic"]) == ("/alert", "review.opened")
    assert heard.body["payload"]["kind"] == "unknown_send"


def smtp(port: int) -> dict[str, Any]:
    """Return the mail settings of a server on loopback."""
    backend = "django.core.mail.backends.smtp.EmailBackend"
    return {"default": {"BACKEND": backend, "OPTIONS": {"host": "127.0.0.1", "port": port}}}


class Mailbox:
    """An SMTP server that keeps what it takes."""

    def __init__(self) -> None:
        """Start empty."""
        self.mails: list[Any] = []

    async def take(self, _server: Any, _session: Any, envelope: Any) -> str:
        """Take one mail."""
        self.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
        return "250 taken"

    handle_DATA = take  # noqa: N815  the name aiosmtpd calls


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    """Run a mail server, and let Django use it."""
    box = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    try:
        settings.MAILERS = smtp(port)
        settings.LANDED_ALERT_MAIL = ["anna@example.com"]
        yield box
    finally:
        server.stop()


def test_an_open_question_is_mailed(shop: Shop, mailbox: Mailbox) -> None:
    """To whom the environment names, under an id that stays the same when it is sent again."""
    in_review(shop)
    assert relay() == {"delivered": 1}
    ((to, mail),) = mailbox.mails
    (conflict,) = shop.rows("conflicts")
    assert to == ["anna@example.com"]
    assert mail["Subject"] == f"[Landed] conflict:{conflict['id']} waits for a person"
    assert mail["Message-ID"].startswith(f"<review.opened.conflict.{conflict['id']}.")
    assert '"unknown_send"' in mail.get_payload()


def test_a_mail_server_that_is_away_is_tried_again(shop: Shop, settings: Settings) -> None:
    """The question waits in the console anyway."""
    settings.MAILERS = smtp(1)
    settings.LANDED_ALERT_MAIL = ["anna@example.com"]
    in_review(shop)
    assert relay() == {"failed": 1}
    (row,) = shop.rows("outbox")
    assert row["last_error"].startswith("mail: ")
