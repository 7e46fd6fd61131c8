"""Lost answers about dead letters, batches and runs."""

from typing import Any
from uuid import UUID

from tests.support import factories
from tests.support.factories import SWEEPER
from tests.support.lost.cases import World, case, workflow

TOKEN, RUN = UUID(int=17), UUID(int=19)


def _letter(item: int = 1) -> dict[str, Any]:
    return {"payload": {"n": item}, "error_message": "it broke", "item_key": f"item-{item}"}


@case("post_failed_job", "replay", lost="inserted")
def post_failed_job(_world: World) -> dict[str, Any]:
    """The same living failure is one letter."""
    return workflow(**_letter())


@case("post_failed_jobs", "replay", lost="inserted", changes=2)
def post_failed_jobs(_world: World) -> dict[str, Any]:
    """Each item is one letter."""
    return workflow(items=[_letter(1), _letter(2)])


@case("retry_failed_job", "rule_failed", detail={"why": "not_dead"}, moves={"next_retry_at"})
def retry_failed_job(world: World) -> dict[str, Any]:
    """Its job is in the queue; a job that is not dead is not retried."""
    factories.buried(world.shop)
    return {"actor": SWEEPER, "failed_job_id": world.only("failed_jobs")["id"]}


@case("start_batch", "won", says={"owner_token": TOKEN}, detail={"resumed": True})
def start_batch(_world: World) -> dict[str, Any]:
    """The same batch."""
    return workflow(owner_token=TOKEN)


def _batch(world: World) -> dict[str, Any]:
    started = world.run("start_batch", owner_token=TOKEN)
    return workflow(batch_id=started.batch_id, owner_token=TOKEN)


@case("advance_batch", "replay", says={"last_cursor": "100", "items_processed": 100})
def advance_batch(world: World) -> dict[str, Any]:
    """The items are counted once."""
    return _batch(world) | {"expected_cursor": None, "new_cursor": "100", "n": 100}


@case("finish_batch", "replay", says={"status": "complete"})
def finish_batch(world: World) -> dict[str, Any]:
    """Finished once."""
    return _batch(world) | {"status": "complete"}


@case("start_run", "replay", says={"run_id": RUN})
def start_run(_world: World) -> dict[str, Any]:
    """The run the caller named."""
    return workflow(run_id=RUN)


@case("start_run", "replay")
def of_an_execution(_world: World) -> dict[str, Any]:
    """The run of this execution."""
    return workflow(execution_id="71")


@case("complete_run", "replay")
def complete_run(world: World) -> dict[str, Any]:
    """Complete once."""
    world.run("start_run", run_id=RUN)
    return workflow(run_id=RUN, result={"ok": 1})


@case("fail_run", "replay")
def fail_run(world: World) -> dict[str, Any]:
    """Failed once."""
    world.run("start_run", run_id=RUN)
    return workflow(run_id=RUN, error="it broke")
