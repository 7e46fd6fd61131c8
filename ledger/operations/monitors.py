"""Monitors: what a look found, who took note of it, and what is normal."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail
from ledger.operations.registrations import Saved


@dataclass(frozen=True, slots=True)
class RecordedCheck(Answer):
    """How many alerts fire after the look, and how many it ended; NULL where it decides nothing."""

    fired: int | None
    resolved: int | None
    detail: Detail


def record_check(
    *,
    actor: str,
    name: str,
    started_at: datetime,
    ok: bool,
    matched: int | None = None,
    floor_seen: int | None = None,
    detail: dict[str, Any] | None = None,
    alerts: list[dict[str, Any]] | None = None,
    host: str | None = None,
) -> RecordedCheck:
    """One look of a monitor is over; its alerts and its proof of life are written here."""
    argument = {
        "actor": actor,
        "name": name,
        "started_at": started_at,
        "ok": ok,
        "matched": matched,
        "floor_seen": floor_seen,
        "detail": detail,
        "alerts": alerts,
        "host": host,
    }
    return call("record_check", argument, RecordedCheck)


@dataclass(frozen=True, slots=True)
class AcknowledgedAlert(Answer):
    """The alert as it stands now."""

    state: str | None
    version: int | None
    detail: Detail


def acknowledge_alert(
    *, actor: str, alert_id: int, reason: str, version: int | None = None
) -> AcknowledgedAlert:
    """A person has seen an alert; it stays until what it tells of is over."""
    argument = {"actor": actor, "alert_id": alert_id, "reason": reason, "version": version}
    return call("acknowledge_alert", argument, AcknowledgedAlert)


def save_baseline(
    *,
    actor: str,
    workflow: str,
    workflow_version: str,
    op: str,
    metric: str,
    reason: str,
    anchor: float | None = None,
    tolerance: float | None = None,
    samples: int | None = None,
    recheck: bool | None = None,
    seeded_from: str | None = None,
    seed_check: dict[str, Any] | None = None,
    carried_from_version: str | None = None,
    widen_factor: float | None = None,
    widen_until: datetime | None = None,
    cap: float | None = None,
    version: int | None = None,
) -> Saved:
    """Say what is normal for one operation of one workflow version, or that it still holds.

    ``CLEAR`` empties a member; None leaves it as it is.
    """
    argument = {
        "actor": actor,
        "workflow": workflow,
        "workflow_version": workflow_version,
        "op": op,
        "metric": metric,
        "reason": reason,
        "anchor": anchor,
        "tolerance": tolerance,
        "samples": samples,
        "recheck": recheck,
        "seeded_from": seeded_from,
        "seed_check": seed_check,
        "carried_from_version": carried_from_version,
        "widen_factor": widen_factor,
        "widen_until": widen_until,
        "cap": cap,
        "version": version,
    }
    return call("save_baseline", argument, Saved)
