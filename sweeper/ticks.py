"""One tick of anything periodic: single flight first, proof of life last.

The lock is a row with a lease and a fence, so a tick that hangs or dies is taken over, and one
that comes back late finds itself fenced. Whatever starts a tick (a schedule, a loop, a person)
may do so as often as it likes: all but one are ``skipped_busy``. What a tick does is not here.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID, uuid4

from ledger.errors import LedgerError
from ledger.operations.policies import policy
from ledger.operations.sweeps import release_sweep_lock, take_sweep_lock
from sweeper import deaths
from sweeper.errors import SweeperError

# A tick may be late by a quarter of its interval without being missed, but not by more than this.
MOST_JITTER = 15

# A tick takes no more work after this: it ends in time for the next one, and well before a
# scheduler would cut it (90 s). What is left is due at the next one.
TICK_SECONDS = 45.0


class Report(Protocol):
    """What a tick says about itself, as JSON."""

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""


class LostLockError(SweeperError):
    """The lease ran out while the tick worked and another holder took over: stop at once."""


class Lock:
    """The lock of a running tick."""

    def __init__(
        self, name: str, actor: str, token: UUID, fence: int, lease_seconds: float
    ) -> None:
        """Hold what was taken."""
        self.name, self.actor, self.token, self.fence = name, actor, token, fence
        self.lease_seconds = lease_seconds
        self._renewed_at = time.monotonic()

    def keep(self) -> None:
        """Renew the lease when a third of it has passed; stop the tick if it is lost."""
        if time.monotonic() - self._renewed_at < self.lease_seconds / 3:
            return
        again = take_sweep_lock(actor=self.actor, name=self.name, owner_token=self.token)
        if again.outcome != "won" or again.fence != self.fence:
            raise LostLockError(f"tick {self.name}: the lock was lost while it ran")
        self._renewed_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class Tick[R]:
    """How a tick ended: ``ran``, ``skipped_busy`` or ``lost_lock`` (no proof of life)."""

    name: str
    outcome: str
    report: R | None = None


_asked_by: ContextVar[str] = ContextVar("asked_by", default="")


@contextmanager
def on_behalf_of(person: str) -> Iterator[None]:
    """Let locks and audit rows name who asked for the ticks of this block."""
    token = _asked_by.set(person)
    try:
        yield
    finally:
        _asked_by.reset(token)


def me() -> str:
    """Name this process for locks and audit rows, and who asked where somebody did."""
    person = _asked_by.get()
    return f"{socket.gethostname()}:{os.getpid()}{f' for {person}' if person else ''}"


def seconds(name: str) -> float:
    """Return a policy that is a number of seconds."""
    value = policy(name)
    if value is None:
        raise SweeperError(f"the policy {name} is missing; run manage.py migrate")
    return float(value)


def jitter(interval_seconds: float) -> int:
    """Return how late a tick may be, beside the two intervals after which it counts as stopped."""
    return round(min(MOST_JITTER, max(1.0, interval_seconds / 4)))


def tick[R: Report](name: str, run: Callable[[Lock], R], *, interval_seconds: float) -> Tick[R]:
    """Run one tick if nobody else does.

    1. Take the lock; busy is not an error.
    2. Run. Whatever goes wrong releases the lock without proof of life and is raised.
    3. Release, which writes the proof of life and the report as the very last act.
    """
    taken = take_sweep_lock(actor=me(), name=name, owner_token=uuid4())
    if taken.outcome == "held_by_other":
        return Tick(name, "skipped_busy")
    if taken.outcome != "won" or taken.token is None or taken.fence is None:
        raise SweeperError(f"tick {name}: the lock answered {taken.outcome} {taken.detail}")
    lock = Lock(name, me(), taken.token, taken.fence, seconds("sweep_lease_s"))
    try:
        report = run(lock)
    except LostLockError:
        return Tick(name, "lost_lock")
    except BaseException:
        with suppress(LedgerError):  # what went wrong first is what counts; the lease ends anyway
            release_sweep_lock(actor=me(), name=name, token=lock.token, succeeded=False)
        raise
    released = release_sweep_lock(
        actor=me(),
        name=name,
        token=lock.token,
        succeeded=True,
        report=dict(report.as_json()) | deaths.as_report(),
        interval_seconds=round(interval_seconds),
        jitter_seconds=jitter(interval_seconds),
        host=socket.gethostname(),
    )
    return Tick(name, "ran" if released.outcome == "won" else "lost_lock", report)
