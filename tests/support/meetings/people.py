"""A person who meets another, a worker, or a schedule at what waits for a decision."""

from typing import Any

from tests.support import factories
from tests.support.factories import SWEEPER, order
from tests.support.lost import World
from tests.support.lost.cases import REASON, SECOND, workflow
from tests.support.meetings.cases import Call, hears


def _two_abandon(world: World) -> tuple[Call, Call]:
    """Let two people give up the one conflict."""
    (conflict,) = world.shop.rows("conflicts")
    decision = {"conflict_id": conflict["id"], "lock_version": 1, "decision": "abandon"}
    return (
        ("decide_conflict", REASON | decision),
        ("decide_conflict", REASON | decision | {"actor": SECOND}),
    )


@hears("already_decided")
def two_people_at_one_parked_item(world: World) -> tuple[Call, Call]:
    """Meet at a conflict that has no key to wait for."""
    world.run("claim_job", **order() | {"event": {}})
    return _two_abandon(world)


@hears("already_decided")
def two_people_at_one_send(world: World) -> tuple[Call, Call]:
    """Show the second what the first decided."""
    factories.in_review(world.shop)
    return _two_abandon(world)


@hears("bad_transition")
def a_withdrawal_behind_the_claim(world: World) -> tuple[Call, Call]:
    """Come too late: the job is due."""
    factories.in_review(world.shop)
    (conflict,) = world.shop.rows("conflicts")
    decision = {"conflict_id": conflict["id"], "lock_version": 1, "decision": "resend"}
    done = world.run("decide_conflict", **REASON, **decision, risk_acknowledged=True)
    job = world.only("jobs")
    hurry = {"job_id": job["id"], "version": job["version"], "decision": "run_now"}
    back = {"conflict_id": conflict["id"], "lock_version": done.lock_version}
    return ("decide_queued_job", REASON | hurry), ("withdraw_decision", REASON | back)


@hears("bad_transition")
def a_person_behind_a_worker(world: World) -> tuple[Call, Call]:
    """Find the job at work."""
    job = world.shop.job(factories.enqueued(world.shop))
    decision = {"job_id": job["id"], "version": job["version"], "decision": "abandon"}
    return ("claim_next_job", workflow()), ("decide_queued_job", REASON | decision)


def _letter(world: World) -> dict[str, Any]:
    factories.buried(world.shop)
    return world.only("failed_jobs")


@hears("already_decided")
def a_retry_behind_a_person(world: World) -> tuple[Call, Call]:
    """Leave alone what a person gave up."""
    letter = _letter(world)
    named = {"failed_job_id": letter["id"]}
    decision = named | {"lock_version": letter["lock_version"], "decision": "abandon"}
    return (
        ("decide_failed_job", REASON | decision),
        ("retry_failed_job", named | {"actor": SWEEPER}),
    )
