"""Lost answers about the sweep: what it takes, what it decides, what it hears from providers."""

from typing import Any
from uuid import UUID

from tests.support import factories
from tests.support.factories import BLIND, HANDLE, SWEEPER
from tests.support.lost.cases import World, case

TOKEN = UUID(int=7)
RESUMED = {"resumed": True}


@case("take_expired_jobs", "won", says={"owner_token": TOKEN}, detail=RESUMED)
def take_expired_jobs(world: World) -> dict[str, Any]:
    """The same rows again; the settle window does not start anew."""
    factories.expire(world.shop, factories.marked(world.shop, HANDLE))
    return {"actor": SWEEPER, "owner_token": TOKEN}


def _decision(world: World, taken: Any, decision: str, **more: Any) -> dict[str, Any]:
    return {
        "actor": SWEEPER,
        "job_id": taken.job_id,
        "owner_token": taken.owner_token,
        "expected_version": world.shop.job(taken.job_id)["version"],
        "decision": decision,
        "reason": "test",
        **more,
    }


@case("decide_job", "replay", says={"state": "done"})
def done(world: World) -> dict[str, Any]:
    """It was closed once."""
    taken = factories.swept(world.shop, factories.marked(world.shop, HANDLE))
    factories.look_up(world.shop, taken, "lookup_found", provider_ref="m_1")
    return _decision(world, taken, "done")


@case("decide_job", "replay", says={"state": "queued"})
def requeue(world: World) -> dict[str, Any]:
    """It was requeued once."""
    taken = factories.swept(world.shop, factories.marked(world.shop))
    return _decision(world, taken, "requeue")


@case("decide_job", "replay", says={"state": "dead"})
def bury(world: World) -> dict[str, Any]:
    """One dead letter."""
    taken = factories.swept(world.shop, factories.claimed(world.shop))
    world.sql("UPDATE jobs SET attempts = 99")
    return _decision(world, taken, "requeue")


@case("decide_job", "replay", says={"state": "review"})
def review(world: World) -> dict[str, Any]:
    """One question for a person, and the repeat names it."""
    return _decision(
        world, factories.swept(world.shop, factories.marked(world.shop, BLIND)), "review"
    )


@case("decide_job", "replay", says={"state": "sweeping"})
def wait(world: World) -> dict[str, Any]:
    """It waits as long as the first answer said."""
    taken = factories.swept(world.shop, factories.marked(world.shop, HANDLE))
    return _decision(world, taken, "wait", look_again_at=taken.settle_until)


@case(
    "add_evidence",
    "inserted",
    lost="inserted",
    repeat_changes=1,
    moves={"lookups", "version", "updated_at"},
    grows={"evidence"},
)
def add_evidence(world: World) -> dict[str, Any]:
    """What a provider said twice was said twice: counting it twice errs to the careful side."""
    taken = factories.swept(world.shop, factories.marked(world.shop, HANDLE))
    said = {"kind": "lookup_absent", "source": "look-up", "body": {"a": 1}}
    return {"actor": SWEEPER, "job_id": taken.job_id, **said}


@case("look_again", "inserted", lost="inserted", repeat_changes=1, grows={"evidence"})
def look_again(world: World) -> dict[str, Any]:
    """A person who looks twice has looked twice."""
    job = factories.in_review(world.shop)
    return {"actor": "anna", "job_id": job.job_id, "kind": "lookup_found", "source": "look-up"}


@case(
    "take_sweep_lock",
    "won",
    repeat_changes=1,
    moves={"acquired_at", "lease_expires_at"},
    says={"token": TOKEN, "fence": 1},
)
def take_sweep_lock(_world: World) -> dict[str, Any]:
    """The same holder, the same fence, a fresh lease."""
    return {"actor": SWEEPER, "name": "sweep", "owner_token": TOKEN}


@case("release_sweep_lock", "lost_claim")
def release_sweep_lock(world: World) -> dict[str, Any]:
    """Nobody holds it any more; the proof of life was written once."""
    world.run("take_sweep_lock", name="sweep", owner_token=TOKEN)
    return {"actor": SWEEPER, "name": "sweep", "token": TOKEN, "succeeded": True}
