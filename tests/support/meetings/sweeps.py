"""Who comes behind the sweep at its jobs, its lock or its outbox."""

from tests.support import factories
from tests.support.factories import BLIND, SWEEPER, Held
from tests.support.lost import World
from tests.support.lost.cases import workflow
from tests.support.meetings.cases import Call, hears

TAKE = ("take_expired_jobs", {"actor": SWEEPER})


def _expired(world: World, effect: str = BLIND) -> Held:
    """Return a claim that the sweeper may take and its holder may still end."""
    job = factories.claimed(world.shop, effect)
    factories.expire(world.shop, job)
    return job


@hears("held_by_other")
def a_heartbeat_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Lose the job while waiting."""
    return TAKE, ("heartbeat_job", workflow(**_expired(world).mine))


@hears("held_by_other")
def a_mark_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Be kept from sending."""
    job = _expired(world)
    return TAKE, ("mark_sending", workflow(**job.mine, idem_key=job.idem_key))


@hears("held_by_other")
def a_receipt_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Become late evidence."""
    return TAKE, ("record_receipt", workflow(**_expired(world).mine, provider_ref="re_1"))


@hears("held_by_other")
def a_result_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Become late evidence."""
    return TAKE, ("complete_job", workflow(**_expired(world).mine, result=1))


@hears("held_by_other")
def a_failure_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Leave it to the sweeper."""
    failed = {"error": "x", "effect_state": "not_started"}
    return TAKE, ("fail_job", workflow(**_expired(world).mine, **failed))


@hears("held_by_other")
def a_release_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Have nothing left to give back."""
    return TAKE, ("release_job", workflow(**_expired(world).mine))


@hears("held_by_other")
def a_decision_behind_another_sweeper(world: World) -> tuple[Call, Call]:
    """Find the sweep taken over."""
    taken = factories.swept(world.shop, factories.marked(world.shop, BLIND))
    factories.expire(world.shop, taken.job_id)
    version = world.shop.job(taken.job_id)["version"]
    decision = {"owner_token": taken.owner_token, "expected_version": version, "reason": "x"}
    decision |= {"actor": SWEEPER, "job_id": taken.job_id, "decision": "review"}
    return TAKE, ("decide_job", decision)


@hears("held_by_other")
def two_sweepers(_world: World) -> tuple[Call, Call]:
    """Let one of them run the tick."""
    lock = {"actor": SWEEPER, "name": "sweep"}
    return ("take_sweep_lock", lock), ("take_sweep_lock", lock)


@hears("lost_claim")
def a_release_behind_the_next_holder(world: World) -> tuple[Call, Call]:
    """Prove no life: the lock is somebody else's."""
    held = world.run("take_sweep_lock", name="sweep")
    world.sql("UPDATE sweep_locks SET lease_expires_at = clock_timestamp() - interval '1 s'")
    lock = {"actor": SWEEPER, "name": "sweep"}
    late = lock | {"token": held.token, "succeeded": True}
    return ("take_sweep_lock", lock), ("release_sweep_lock", late)


@hears("replay")
def a_failed_relay_behind_a_good_one(world: World) -> tuple[Call, Call]:
    """Leave published what is."""
    factories.in_review(world.shop)
    (taken,) = world.shop.door.call_many("take_outbox", actor=SWEEPER)
    message = {"actor": SWEEPER, "outbox_id": taken.outbox_id, "attempts": taken.attempts}
    return ("publish_outbox", message), ("publish_outbox", message | {"error": "refused"})
