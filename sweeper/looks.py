"""A look at something outside, as its tick records it: since when, what it saw, what it tells."""

import socket
from datetime import datetime
from typing import Any

from ledger.models import SweepLock
from ledger.operations.monitors import record_check
from sweeper.errors import SweeperError
from sweeper.ticks import Report, me


def began_at(name: str) -> datetime:
    """Return when this tick took its lock, by the database's clock."""
    taken_at = SweepLock.objects.values_list("acquired_at", flat=True).get(name=name)
    if taken_at is None:
        raise SweeperError("a lock that is held says nothing of when it was taken")
    return taken_at


def record(
    name: str,
    report: Report,
    *,
    began: datetime,
    matched: int,
    alerts: list[dict[str, Any]],
) -> None:
    """Record a look that was made; alerts that are not among these end with it."""
    recorded = record_check(
        actor=me(),
        name=name,
        started_at=began,
        ok=True,
        matched=matched,
        detail=dict(report.as_json()),
        alerts=alerts,
        host=socket.gethostname(),
    )
    if recorded.outcome not in ("won", "replay"):
        raise SweeperError(f"record_check answered {recorded.outcome} {recorded.detail}")
