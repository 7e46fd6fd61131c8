"""The outbox: messages to publish, and what became of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.operations._call import call, call_many
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class TakenMessage(Answer):
    """One message to publish; ``empty`` when none is due."""

    outbox_id: int | None
    topic: str | None
    subject: str | None
    key: str | None
    workflow: str | None
    payload: Any
    attempts: int | None
    created_at: datetime | None
    detail: Detail


def take_outbox(
    *,
    actor: str,
    limit: int | None = None,
) -> list[TakenMessage]:
    """Messages due for publishing, each to one relay at a time; never waits for a lock."""
    argument = {
        "actor": actor,
        "limit": limit,
    }
    return call_many("take_outbox", argument, TakenMessage)


@dataclass(frozen=True, slots=True)
class PublishedMessage(Answer):
    """Whether the message was given up."""

    given_up: bool | None
    detail: Detail


def publish_outbox(
    *,
    actor: str,
    outbox_id: int,
    attempts: int,
    error: str | None = None,
) -> PublishedMessage:
    """What became of a taken message: published, or failed and tried again later."""
    argument = {
        "actor": actor,
        "outbox_id": outbox_id,
        "attempts": attempts,
        "error": error,
    }
    return call("publish_outbox", argument, PublishedMessage)


@dataclass(frozen=True, slots=True)
class DecidedMessage(Answer):
    """The message as it stands after the decision."""

    outbox_id: int | None
    lock_version: int | None
    detail: Detail


def decide_outbox(
    *,
    actor: str,
    outbox_id: int,
    lock_version: int,
    decision: str,
    reason: str | None = None,
) -> DecidedMessage:
    """A person has a message that was given up tried again, or drops it."""
    argument = {
        "actor": actor,
        "outbox_id": outbox_id,
        "lock_version": lock_version,
        "decision": decision,
        "reason": reason,
    }
    return call("decide_outbox", argument, DecidedMessage)
