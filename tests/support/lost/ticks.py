"""Lost answers to what runs by itself: the archive, promotions, the seal, the outbox."""

from typing import Any

from tests.support import desk, factories, retention
from tests.support.factories import SWEEPER
from tests.support.lost.cases import World, case
from tests.support.lost.records import too_late


@case("archive_keys", "empty")
def archive_keys(world: World) -> dict[str, Any]:
    """Nothing is left to move."""
    factories.completed(world.shop)
    retention.grow_old(world.shop)
    return {"actor": SWEEPER}


@case("purge_jobs", "empty")
def purge_jobs(world: World) -> dict[str, Any]:
    """Nothing is left to drop."""
    retention.archived(world.shop)
    retention.let_jobs_grow_old(world.shop, 900)
    return {"actor": SWEEPER}


@case("purge_archive", "empty")
def purge_archive(world: World) -> dict[str, Any]:
    """Nothing is left to forget."""
    retention.archived(world.shop)
    world.sql("DELETE FROM jobs")
    retention.sign(world.shop)
    return {"actor": SWEEPER}


@case("promote_conflicts", "empty")
def promote_conflicts(world: World) -> dict[str, Any]:
    """It is open already."""
    too_late(world)
    assert desk.write(desk.FORM, "e1", 1, phone="1").outcome == "stale_version"
    world.sql("UPDATE conflicts SET created_at = created_at - interval '1 hour'")
    return {"actor": SWEEPER}


@case("seal_audit", "empty", changes=0)
def seal_audit(world: World) -> dict[str, Any]:
    """Everything is under the seal already."""
    factories.claimed(world.shop)
    return {"actor": SWEEPER}


def _message(world: World) -> dict[str, Any]:
    factories.in_review(world.shop)
    (taken,) = world.shop.door.call_many("take_outbox", actor=SWEEPER)
    return {"actor": SWEEPER, "outbox_id": taken.outbox_id, "attempts": taken.attempts}


@case("take_outbox", "empty")
def take_outbox(world: World) -> dict[str, Any]:
    """A message whose taker lost it comes back later, and is not lost."""
    factories.in_review(world.shop)
    return {"actor": SWEEPER}


@case("publish_outbox", "replay")
def publish_outbox(world: World) -> dict[str, Any]:
    """Published once."""
    return _message(world)


@case("publish_outbox", "replay")
def failed(world: World) -> dict[str, Any]:
    """The failure of this attempt is noted once."""
    return _message(world) | {"error": "connection refused"}


@case("publish_outbox", "replay", says={"given_up": True})
def failed_too_often(world: World) -> dict[str, Any]:
    """Given up once."""
    argument = _message(world) | {"error": "connection refused"}
    world.sql("UPDATE outbox SET created_at = created_at - interval '9 days'")
    return argument
