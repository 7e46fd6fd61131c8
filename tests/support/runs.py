"""Runs for tests: one that began, one that a reconciler flagged, and what a reconciler is told."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from tests.support.factories import Shop

STOPPED = datetime(2026, 11, 30, 9, tzinfo=UTC)
ENDS = ["success", "error", "crashed", "canceled"]
"""What an engine says of an execution that is over, and when it stopped."""


def begun(shop: Shop, **more: Any) -> UUID:
    """Return a run that began just now."""
    answer = shop.run("start_run", **({"run_id": uuid4()} | more))
    assert answer.outcome == "won", answer
    run_id: UUID = answer.run_id
    return run_id


def running(shop: Shop, **more: Any) -> UUID:
    """Return a run that began as an execution the engine knows."""
    return begun(shop, **({"external_execution_id": "7"} | more))


def flagged(shop: Shop, **more: Any) -> UUID:
    """Return a run that waits for a person."""
    run_id = begun(shop, **more)
    shop.owner.execute(
        "UPDATE runs SET needs_operator = true, waiting_since = clock_timestamp(),"
        " engine_status = 'unknown', terminal_first_seen_at = clock_timestamp() WHERE id = %s",
        [run_id],
    )
    return run_id


def row(shop: Shop, run_id: UUID) -> dict[str, Any]:
    """Return the run as it is now."""
    (found,) = shop.rows("runs", id=run_id)
    return found


def change(shop: Shop, run_id: UUID, assignment: str) -> None:
    """Change a run by hand."""
    shop.owner.execute(f"UPDATE runs SET {assignment} WHERE id = %s", [run_id])  # noqa: S608 - ours


def pass_deadline(shop: Shop, run_id: UUID) -> None:
    """Let a run be late by a second."""
    change(shop, run_id, "deadline_at = clock_timestamp() - interval '1 second'")


def pass_grace(shop: Shop, run_id: UUID) -> None:
    """Let the engine have reported the end so long ago that it is believed."""
    change(shop, run_id, "terminal_first_seen_at = clock_timestamp() - interval '31 seconds'")


def engine_says(shop: Shop, run_id: UUID, status: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the members of a reconciler's look: the run as it was read, the engine's answer."""
    run = row(shop, run_id)
    told = {"run_id": run_id, "expected_lock_version": run["lock_version"]}
    told |= {"instance": run["instance"], "actor": "reconciler-1"}
    if run["external_execution_id"]:
        told |= {"external_execution_id": run["external_execution_id"], "engine_status": status}
    if status in ENDS:
        told["stopped_at"] = STOPPED
    return told | more


def reconcile(shop: Shop, run_id: UUID, status: str | None = None, **more: Any) -> Any:
    """Tell the ledger what the engine says of a run."""
    return shop.call("reconcile_run", **engine_says(shop, run_id, status, **more))
