"""Lost answers about jobs: claims, sends and ends."""

from typing import Any
from uuid import UUID

from tests.support import factories
from tests.support.factories import BLIND, FORCED, HANDLE, order
from tests.support.lost.cases import World, case, workflow

TOKEN, NEXT = UUID(int=7), UUID(int=8)
RESUMED = {"resumed": True}
BEAT = {"claimed_at", "heartbeat_at", "lease_expires_at", "version", "updated_at"}

# -- claims --------------------------------------------------------------------------------------


@case("claim_job", "won", says={"owner_token": TOKEN}, detail=RESUMED)
def claim_job(_world: World) -> dict[str, Any]:
    """A token of the caller's making resumes its claim."""
    return workflow(**order(), owner_token=TOKEN)


@case("claim_job", "won", detail=RESUMED)
def by_its_execution(_world: World) -> dict[str, Any]:
    """Without a token the execution does."""
    return workflow(**order(), execution_id="71", instance="main")


@case("claim_job", "held_by_other", detail={"reason": "claimed"})
def by_nothing(_world: World) -> dict[str, Any]:
    """With neither, nobody can tell a repeat from a competitor."""
    return workflow(**order())


@case("claim_job", "won", says={"owner_token": NEXT}, detail=RESUMED)
def reclaim(world: World) -> dict[str, Any]:
    """An expired claim is taken over once."""
    factories.expire(world.shop, factories.claimed(world.shop))
    return workflow(**order(), owner_token=NEXT)


@case("claim_job", "missing_key", lost="missing_key", changes=0)
def without_a_key(_world: World) -> dict[str, Any]:
    """An item without a key is parked once."""
    return workflow(effect=FORCED, event={"id": " "}, payload={}, owner_token=TOKEN)


@case("claim_job", "payload_mismatch", lost="payload_mismatch", changes=0)
def with_another_payload(world: World) -> dict[str, Any]:
    """A mismatch opens one conflict."""
    factories.completed(world.shop)
    return workflow(**order() | {"payload": {"amount": 41}})


@case("claim_job", "held_by_other", lost="held_by_other", detail={"reason": "serial_key_busy"})
def in_a_busy_lane(world: World) -> dict[str, Any]:
    """The job is queued once; its repeat finds it there."""
    factories.claimed(world.shop, event=1, serial_key="lane")
    return workflow(**order(event=2, serial_key="lane"), owner_token=TOKEN)


@case("claim_jobs", "won", changes=2, detail=RESUMED)
def claim_jobs(_world: World) -> dict[str, Any]:
    """Each item resumes."""
    items = [order(event=1, owner_token=TOKEN), order(event=2, owner_token=NEXT)]
    return workflow(items=items)


@case(
    "enqueue_job",
    "matched",
    lost="inserted",
    repeat_changes=1,
    moves={"inserted_or_matched"},
)
def enqueue_job(_world: World) -> dict[str, Any]:
    """It is in the queue already."""
    return workflow(**order())


@case(
    "enqueue_jobs",
    "matched",
    lost="inserted",
    changes=2,
    repeat_changes=2,
    moves={"inserted_or_matched"},
)
def enqueue_jobs(_world: World) -> dict[str, Any]:
    """Each item is in the queue already."""
    return workflow(items=[order(event=1), order(event=2)])


@case("claim_next_job", "won", says={"owner_token": TOKEN}, detail=RESUMED)
def claim_next_job(world: World) -> dict[str, Any]:
    """The same job again, not the one after it."""
    factories.enqueued(world.shop, event=1)
    factories.enqueued(world.shop, event=2)
    return workflow(owner_token=TOKEN)


@case("claim_next_jobs", "won", changes=2, says={"owner_token": TOKEN}, detail=RESUMED)
def claim_next_jobs(world: World) -> dict[str, Any]:
    """The same jobs again, not the ones after them."""
    for event in range(3):
        factories.enqueued(world.shop, event=event)
    return workflow(owner_token=TOKEN, limit=2)


# -- in the worker's hands -----------------------------------------------------------------------


@case("heartbeat_job", "won", changes=0, moves=BEAT)
def heartbeat_job(world: World) -> dict[str, Any]:
    """Once more alive is alive."""
    return workflow(**factories.claimed(world.shop).mine)


@case("mark_sending", "already_marked")
def mark_sending(world: World) -> dict[str, Any]:
    """Nobody may send twice on one mark."""
    job = factories.claimed(world.shop, HANDLE)
    return workflow(**job.mine, idem_key=job.idem_key)


@case("mark_sending", "already_marked")
def blindly(world: World) -> dict[str, Any]:
    """The same without a handle."""
    job = factories.claimed(world.shop, BLIND)
    return workflow(**job.mine, idem_key=job.idem_key)


@case(
    "mark_sending",
    "won",
    repeat_changes=1,
    moves={"send_no", "version", "updated_at"},
    says={"provider_key": "charge:1:v1", "send_no": 2},
)
def with_a_key_the_provider_enforces(world: World) -> dict[str, Any]:
    """The same key may be sent again, and the send is counted."""
    job = factories.claimed(world.shop, FORCED)
    return workflow(**job.mine, idem_key=job.idem_key)


@case("mark_sending", "held_by_other", lost="in_review", detail={"state": "review"})
def past_the_life_of_the_key(world: World) -> dict[str, Any]:
    """The job went to a person, once."""
    job = factories.marked(world.shop)
    factories.decide(world.shop, factories.swept(world.shop, job), "requeue")
    factories.age(world.shop, job, "first_marked_at", 90_000)
    again = factories.claimed(world.shop, owner_token=NEXT)
    return workflow(**again.mine, idem_key=again.idem_key)


@case("record_receipt", "replay")
def record_receipt(world: World) -> dict[str, Any]:
    """A receipt is kept once."""
    return workflow(**factories.marked(world.shop, BLIND).mine, provider_ref="re_1", body={"a": 1})


@case("record_receipt", "held_by_other", lost="held_by_other", changes=0)
def too_late(world: World) -> dict[str, Any]:
    """Late evidence is kept once."""
    job = factories.in_review(world.shop)
    return workflow(**job.mine, provider_ref="re_1", body={"a": 1})


@case("complete_job", "replay", says={"result": {"ok": 1}, "http_status": 201})
def complete_job(world: World) -> dict[str, Any]:
    """The stored result comes back."""
    job = factories.marked(world.shop)
    return workflow(**job.mine, result={"ok": 1}, http_status=201, provider_ref="re_1")


@case("complete_job", "result_mismatch", lost="result_mismatch", changes=0)
def with_another_result(world: World) -> dict[str, Any]:
    """A mismatch opens one conflict."""
    return workflow(**factories.completed(world.shop).mine, result={"ok": 2})


@case("complete_job", "in_review", lost="in_review", changes=0)
def after_the_sweep(world: World) -> dict[str, Any]:
    """What came late is kept as evidence once."""
    return workflow(**factories.in_review(world.shop).mine, result={"ok": 1})


@case("complete_jobs", "replay", changes=2)
def complete_jobs(world: World) -> dict[str, Any]:
    """Each item's stored result comes back."""
    jobs = [factories.marked(world.shop, event=event) for event in (1, 2)]
    return workflow(items=[{**job.mine, "result": {"ok": 1}} for job in jobs])


@case("fail_job", "replay", says={"next": "queued"})
def fail_job(world: World) -> dict[str, Any]:
    """It went back to the queue once."""
    job = factories.claimed(world.shop)
    return workflow(**job.mine, error="refused", effect_state="not_started")


@case("fail_job", "replay", says={"next": "left_for_sweeper"})
def not_knowing(world: World) -> dict[str, Any]:
    """It was left for the sweeper once."""
    job = factories.marked(world.shop, HANDLE)
    return workflow(**job.mine, error="timeout", effect_state="unknown")


@case("fail_job", "replay", says={"next": "queued"})
def rejected(world: World) -> dict[str, Any]:
    """The provider said no; the mark is cleared once."""
    job = factories.marked(world.shop, BLIND)
    return workflow(**job.mine, error="no", http_status=422, effect_state="rejected")


@case("fail_job", "replay", says={"next": "left_for_sweeper"})
def with_a_replayed_error(world: World) -> dict[str, Any]:
    """The evidence of it is kept once."""
    job = factories.marked(world.shop)
    return workflow(
        **job.mine, error="stored 500", http_status=500, replayed=True, effect_state="unknown"
    )


@case("fail_job", "replay", says={"next": "dead"})
def for_the_last_time(world: World) -> dict[str, Any]:
    """One dead letter."""
    job = factories.claimed(world.shop)
    world.sql("UPDATE jobs SET attempts = 99")
    return workflow(**job.mine, error="refused", effect_state="not_started")


@case("release_job", "replay", says={"next": "queued"})
def release_job(world: World) -> dict[str, Any]:
    """It was given back once."""
    return workflow(**factories.claimed(world.shop).mine)
