"""Retention ticks: old keys move to the archive, finished jobs go, signed keys are forgotten.

What may go is the ledger's to say; here is only how often it is asked, and for how long.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ledger.operations import retention
from ledger.operations.retention import Moved
from sweeper.errors import SweeperError
from sweeper.ticks import TICK_SECONDS, Lock, Tick, me, seconds, tick

INTERVAL = "retention_interval_s"


class Operation(Protocol):
    """One pass over what is due."""

    def __call__(self, *, actor: str, limit: int | None = None) -> Moved:
        """Move what is due, up to the limit."""


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """How many rows went, and whether more were left than the time allowed."""

    n: int = 0
    out_of_time: bool = False

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def archive_keys() -> Tick[RetentionReport]:
    """Move keys past their life into the archive, if nobody else does."""
    return _run("archive_keys", retention.archive_keys)


def purge_jobs() -> Tick[RetentionReport]:
    """Drop finished jobs whose key went long ago, if nobody else does."""
    return _run("purge_jobs", retention.purge_jobs)


def purge_archive() -> Tick[RetentionReport]:
    """Forget archived keys where a person signed it, if nobody else does."""
    return _run("purge_archive", retention.purge_archive)


def _run(name: str, operation: Operation) -> Tick[RetentionReport]:
    return tick(name, _until_nothing_is_due(operation), interval_seconds=seconds(INTERVAL))


def _until_nothing_is_due(operation: Operation) -> Callable[[Lock], RetentionReport]:
    def run(lock: Lock) -> RetentionReport:
        total = 0
        started = time.monotonic()
        while time.monotonic() - started <= TICK_SECONDS:
            moved = operation(actor=me())
            if moved.outcome == "empty":
                return RetentionReport(total)
            if moved.outcome != "won" or not moved.n:
                raise SweeperError(f"retention answered {moved.outcome} {moved.detail}")
            total += moved.n
            lock.keep()
        return RetentionReport(total, out_of_time=True)

    return run
