"""What schedules call: plain functions without arguments, one tick each.

Each is safe to run at any time, by any number of processes at once: see ``ticks``. Nothing here
knows a scheduler.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ledger.operations.audit import seal_audit
from ledger.operations.sweeps import promote_conflicts
from sweeper import dead_letters, outbox, retention
from sweeper import drift as drift_watch
from sweeper import reconcile as reconciler
from sweeper.dead_letters import RetryReport
from sweeper.drift import DriftReport
from sweeper.outbox import RelayReport
from sweeper.reconcile import ReconcileReport
from sweeper.retention import RetentionReport
from sweeper.sweep import SweepReport, run_once
from sweeper.ticks import Lock, Tick, me, seconds, tick


@dataclass(frozen=True, slots=True)
class Count:
    """The report of a tick that only counts."""

    n: int

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def sweep() -> Tick[SweepReport]:
    """Decide jobs whose lease ran out."""
    return run_once()


def promote() -> Tick[Count]:
    """Open what waits longer than it should."""

    def run(lock: Lock) -> Count:
        total = 0
        while (n := promote_conflicts(actor=me()).n or 0) > 0:
            total += n
            lock.keep()
        return Count(total)

    return tick("promote_conflicts", run, interval_seconds=seconds("promote_interval_s"))


def reconcile() -> Tick[ReconcileReport]:
    """Ask n8n about the runs that are not over."""
    return reconciler.run_once()


def drift() -> Tick[DriftReport]:
    """Ask n8n whether it runs what is deployed."""
    return drift_watch.run_once()


def seal() -> Tick[Count]:
    """Seal the audit rows written since the last seal."""

    def run(_: Lock) -> Count:
        return Count(seal_audit(actor=me()).n or 0)

    return tick("seal_audit", run, interval_seconds=seconds("seal_interval_s"))


def dlq_retry() -> Tick[RetryReport]:
    """Try dead letters again that are due."""
    return dead_letters.run_once()


def relay_outbox() -> Tick[RelayReport]:
    """Send the messages of the outbox that are due."""
    return outbox.run_once()


def archive_keys() -> Tick[RetentionReport]:
    """Move keys past their life into the archive."""
    return retention.archive_keys()


def purge_jobs() -> Tick[RetentionReport]:
    """Drop finished jobs whose key went long ago."""
    return retention.purge_jobs()


def purge_archive() -> Tick[RetentionReport]:
    """Forget archived keys where a person signed it."""
    return retention.purge_archive()
