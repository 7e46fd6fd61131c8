"""One tick of the reconciler in a test, and all that it can have written."""

from typing import Any

from ledger.models import Alert, AuditEvent, CheckRun, Liveness, Run, SweepLock
from sweeper.reconcile import ReconcileReport, run_once


def reconciled() -> ReconcileReport:
    """Reconcile once and return the report."""
    tick = run_once()
    assert tick.outcome == "ran", tick
    assert tick.report is not None
    return tick.report


def everything() -> list[Any]:
    """Return all that a tick could have written."""
    tables = (Run, SweepLock, CheckRun, Liveness, Alert, AuditEvent)
    return [list(table.objects.order_by("pk").values()) for table in tables]
