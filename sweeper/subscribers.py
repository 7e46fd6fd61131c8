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

from ledger.models import Effect, Job, Workflow
from sweeper.errors import ProviderError
from sweeper.providers import base
from sweeper.providers.base import Identity, Sent
from sweeper.stored import event_bytes, payload_bytes
from sweeper.transport import request

LONGEST_SUBJECT = 200


class NotDeliveredError(Exception):
    """A subscriber did not take the message; it says why, and is tried again later."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a subscriber is told; ``headline`` where more is to be said than that it waits."""

    topic: str
    key: str
    subject: str
    workflow: str | None
    created_at: datetime
    payload: Any
    headline: str = ""

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
    return [webhook(found.decision_webhook)] if found and found.decision_webhook else []


def on_call(_message: Message | None = None) -> list[Deliver]:
    """Return what the environment names for alerts."""
    found = []
    if settings.LANDED_ALERT_WEBHOOK:
        found.append(webhook(settings.LANDED_ALERT_WEBHOOK))
    if settings.LANDED_ALERT_MAIL:
        found.append(mail(settings.LANDED_ALERT_MAIL))
    return found


def _sleeper(message: Message) -> list[Deliver]:
    """Return the workflow that is called for a queued job, as long as it is queued."""
    named = message.payload if isinstance(message.payload, Mapping) else {}
    job = Job.objects.defer("payload", "event").filter(id=named.get("job_id")).first()
    effect = Effect.objects.filter(name=job.effect).first() if job else None
    if job is None or job.state != "queued" or effect is None or not effect.wake_url:
        return []
    return [_wake(effect.wake_url, job)]


def _nobody(_message: Message) -> list[Deliver]:
    return []


TOPICS: Mapping[str, Callable[[Message], list[Deliver]]] = {
    "conflict.decided": _workflow,
    "review.opened": on_call,
    "job.queued": _sleeper,
}


def _wake(url: str, job: Job) -> Deliver:
    """Return what hands a workflow all it needs to claim a job by its event."""

    def post(message: Message) -> None:
        told = {
            "topic": message.topic,
            "key": message.key,
            "job_id": job.id,
            "idem_key": job.idem_key,
            "effect": job.effect,
            "effect_version": job.effect_version,
        }
        # What the key and the payload's hash are made of travels as it is stored, number by number.
        body = b'%s,"event":%s,"payload":%s}' % (
            json.dumps(told).encode()[:-1],
            event_bytes(job.id),
            payload_bytes(job.id),
        )
        driver = base.load("n8n_webhook")
        if driver is None:
            raise NotDeliveredError("there is no driver n8n_webhook")
        identity = Identity(job.id, job.provider_key, job.handle)
        config = {"url": url, "allow_private": list(settings.LANDED_PRIVATE_HOSTS)}
        result = base.send(driver, identity, body, config)
        if result.outcome is not Sent.ACCEPTED:
            raise NotDeliveredError(f"the workflow was not called: {result.reason}")

    return post


def webhook(url: str) -> Deliver:
    """Return what posts messages to an address."""

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


def mail(addresses: list[str]) -> Deliver:
    """Return what mails messages to people."""

    def send(message: Message) -> None:
        details = json.dumps(message.payload, indent=2, default=str)
        identity = re.sub(r"[^A-Za-z0-9]+", ".", f"{message.topic}.{message.key}")
        headline = message.headline or f"{message.subject} waits for a person"
        letter = EmailMessage(
            subject=f"[Landed] {' '.join(headline.split())[:LONGEST_SUBJECT]}",
            body=f"Workflow: {message.workflow or '-'}\n"
            f"Since: {message.created_at:%Y-%m-%d %H:%M %Z}\n\n{details}\n",
            to=addresses,
            headers={"Message-ID": f"<{identity}@landed>"},
        )
        try:
            letter.send()
        except (OSError, SMTPException) as error:
            raise NotDeliveredError(f"mail: {error}") from error

    return send
