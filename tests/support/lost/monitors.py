"""Lost answers of the reconciler and of monitors."""

from typing import Any
from uuid import UUID

from tests.support.factories import SHOP, insert
from tests.support.lost.cases import REASON, World, case

RUN = UUID(int=23)
RECONCILER = {"actor": "reconciler"}


def _run(world: World, **more: Any) -> dict[str, Any]:
    begun = world.run("start_run", run_id=RUN, **more)
    assert begun.outcome == "won"
    named = {"run_id": RUN, "expected_lock_version": 1, "instance": "default"}
    return RECONCILER | named


@case("reconcile_run", "stale_version", says={"lock_version": 2})
def reconcile_run(world: World) -> dict[str, Any]:
    """The flag is up; who asks again read the run before."""
    return _run(world)


@case("reconcile_run", "already_terminal", detail={"confirmed": False})
def that_ended(world: World) -> dict[str, Any]:
    """It ended once."""
    named = _run(world, external_execution_id="7")
    world.sql("UPDATE runs SET terminal_first_seen_at = clock_timestamp() - interval '1 hour'")
    ended = {"engine_status": "error", "stopped_at": "2026-11-30T09:00:00Z"}
    return named | {"external_execution_id": "7"} | ended


@case("record_check", "replay")
def record_check(world: World) -> dict[str, Any]:
    """One look, recorded once."""
    check = {"name": "age", "query_name": "age", "interval_seconds": 60, "jitter_seconds": 15}
    insert(world.owner, "checks", **check)
    alert = {"dedupe_key": "oldest", "severity": "page"}
    return {"actor": "monitor", "name": "age", "started_at": "2026-11-30T09:00:00Z"} | {
        "ok": True,
        "alerts": [alert],
    }


@case("acknowledge_alert", "replay", says={"state": "acked"})
def acknowledge_alert(world: World) -> dict[str, Any]:
    """Seen once, also for who names the version before."""
    insert(world.owner, "alerts", check="age", dedupe_key="oldest", severity="page")
    return REASON | {"alert_id": world.only("alerts")["id"], "version": 1}


def _baseline() -> dict[str, Any]:
    key = {"workflow": SHOP, "workflow_version": "1", "op": "claim_job", "metric": "lock_wait_ms"}
    return REASON | key


@case("save_baseline", "replay")
def save_baseline(_world: World) -> dict[str, Any]:
    """Said once."""
    return _baseline() | {"anchor": 4.5, "tolerance": 2}


@case("save_baseline", "replay", says={"version": 2})
def that_still_holds(world: World) -> dict[str, Any]:
    """Looked at once."""
    assert world.run("save_baseline", **_baseline(), anchor=4.5, tolerance=2).outcome == "won"
    return _baseline() | {"recheck": True, "version": 1}


@case("save_batch_curve", "replay")
def save_batch_curve(_world: World) -> dict[str, Any]:
    """Measured once."""
    measured = {"table_name": "crm.orders", "measured_at": "2026-11-30T09:00:00Z"}
    found = {"predicate": "open", "sample": {"rows": 20}, "curve": [], "knee": 10, "threshold": 5}
    return {"actor": "root"} | measured | found
