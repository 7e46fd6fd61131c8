"""The relay of the outbox: each message goes to whoever subscribed, at least once.

A message is taken before it is sent and marked after it, so a relay that dies in between sends it
again. Who hears of what is in ``subscribers``.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ledger.operations.outbox import TakenMessage, publish_outbox, take_outbox
from sweeper.errors import SweeperError
from sweeper.subscribers import Message, NotDeliveredError, deliver
from sweeper.ticks import TICK_SECONDS, Lock, Tick, me, seconds, tick

logger = logging.getLogger(__name__)

NAME = "relay_outbox"
CHUNK = 20
"""Messages taken at once: all are sent before the first comes back."""


@dataclass(frozen=True, slots=True)
class RelayReport:
    """What became of the messages that were due."""

    delivered: int = 0
    unsubscribed: int = 0
    failed: int = 0
    given_up: int = 0
    lost: int = 0

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once() -> Tick[RelayReport]:
    """Relay what is due, if nobody else does."""
    return tick(NAME, _relay, interval_seconds=seconds("outbox_interval_s"))


def _relay(lock: Lock) -> RelayReport:
    counts: Counter[str] = Counter()
    started = time.monotonic()
    while time.monotonic() - started <= TICK_SECONDS and (taken := _take()):
        for message in taken:
            if time.monotonic() - started > TICK_SECONDS:
                break  # it comes back by itself
            lock.keep()
            counts[_isolated(message)] += 1
    return RelayReport(**counts)


def _take() -> list[TakenMessage]:
    rows = take_outbox(actor=me(), limit=CHUNK)
    if rows[0].outcome not in ("won", "empty"):
        raise SweeperError(f"take_outbox answered {rows[0].outcome} {rows[0].detail}")
    return [row for row in rows if row.outcome == "won"]


def _isolated(taken: TakenMessage) -> str:
    """Send one message; what goes wrong with it is its own affair and does not stop the others."""
    try:
        heard = deliver(_message(taken))
    except NotDeliveredError as error:
        return _publish(taken, str(error))
    except Exception as error:
        logger.exception("relay: message %s could not be sent", taken.outbox_id)
        return _publish(taken, f"{type(error).__name__}: {error}")
    ended = _publish(taken, None)
    return "unsubscribed" if ended == "delivered" and heard == 0 else ended


def _publish(taken: TakenMessage, error: str | None) -> str:
    """Note what became of a message; return the count it belongs to."""
    if taken.outbox_id is None or taken.attempts is None:
        raise SweeperError("take_outbox left a column of a taken message empty")
    noted = publish_outbox(
        actor=me(), outbox_id=taken.outbox_id, attempts=taken.attempts, error=error
    )
    if noted.outcome not in ("won", "replay"):
        return "lost"
    if error is None:
        return "delivered"
    return "given_up" if noted.given_up else "failed"


def _message(taken: TakenMessage) -> Message:
    if taken.topic is None or taken.key is None or taken.created_at is None:
        raise SweeperError("take_outbox left a column of a taken message empty")
    return Message(
        topic=taken.topic,
        key=taken.key,
        subject=str(taken.subject),
        workflow=taken.workflow,
        created_at=taken.created_at,
        payload=taken.payload,
    )
