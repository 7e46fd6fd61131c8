"""Who hears of what: a decision goes to its workflow, an open question to whoever is on call.

Each delivery may come more than once; the receiver dedups on the key. Nothing here knows the
outbox. Without an address nobody has subscribed, and that is no failure.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage

from ledger.models import Workflow
from sweeper.errors import ProviderError
from sweeper.transport import request


class NotDeliveredError(Exception):
    """A subscriber did not take the message; it says why, and is tried again later."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a subscriber is told."""

    topic: str
    key: str
    subject: str
    workflow: str | None
    created_at: datetime
    payload: Any

    def as_json(self) -> bytes:
        """Return the message as it is sent."""
        told = {
            "topic": self.topic,
            "key": self.key,
            "subject": self.subject,
            "workflow": self.workflow,
            "created_at": self.created_at.isoformat(),
            "payload": self.payload,
        }
        return json.dumps(told, default=str).encode()


Deliver = Callable[[Message], None]


def deliver(message: Message) -> int:
    """Tell everybody who subscribed to this topic; return how many took it.

    Raise NotDeliveredError when somebody did not: then all are told again, by the same key.
    """
    subscribers = TOPICS.get(message.topic, _nobody)(message)
    for tell in subscribers:
        tell(message)
    return len(subscribers)


def _workflow(message: Message) -> list[Deliver]:
    """Return the webhook that the workflow's deploy named for decisions."""
    found = Workflow.objects.filter(name=message.workflow).first()
    return [_webhook(found.decision_webhook)] if found and found.decision_webhook else []


def _on_call(_message: Message) -> list[Deliver]:
    """Return what the environment names for alerts."""
    found = []
    if settings.LANDED_ALERT_WEBHOOK:
        found.append(_webhook(settings.LANDED_ALERT_WEBHOOK))
    if settings.LANDED_ALERT_MAIL:
        found.append(_mail(settings.LANDED_ALERT_MAIL))
    return found


def _nobody(_message: Message) -> list[Deliver]:
    return []


TOPICS: Mapping[str, Callable[[Message], list[Deliver]]] = {
    "conflict.decided": _workflow,
    "review.opened": _on_call,
}


def _webhook(url: str) -> Deliver:
    def post(message: Message) -> None:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": f"{message.topic}:{message.key}",
        }
        try:
            answer = request(
                "POST",
                url,
                headers=headers,
                body=message.as_json(),
                allow_private=settings.LANDED_PRIVATE_HOSTS,
            )
        except ProviderError as error:
            raise NotDeliveredError(str(error)) from error
        if not 200 <= answer.status < 300:
            raise NotDeliveredError(f"the webhook answered {answer.status}")

    return post


def _mail(addresses: list[str]) -> Deliver:
    def send(message: Message) -> None:
        details = json.dumps(message.payload, indent=2, default=str)
        identity = re.sub(r"[^A-Za-z0-9]+", ".", f"{message.topic}.{message.key}")
        mail = EmailMessage(
            subject=f"[Landed] {message.subject} waits for a person",
            body=f"Workflow: {message.workflow}\nSince: {message.created_at:%Y-%m-%d %H:%M %Z}\n\n"
            f"{details}\n",
            to=addresses,
            headers={"Message-ID": f"<{identity}@landed>"},
        )
        try:
            mail.send()
        except (OSError, SMTPException) as error:
            raise NotDeliveredError(f"mail: {error}") from error

    return send
