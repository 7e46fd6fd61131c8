"""Two calls that meet at one batch or one run."""

from uuid import UUID

from tests.support.lost import World
from tests.support.lost.cases import REASON, workflow
from tests.support.meetings.cases import Call, hears

RUN = UUID(int=9)


@hears("held_by_other")
def two_starts_of_a_batch(_world: World) -> tuple[Call, Call]:
    """Let one of them run it."""
    return ("start_batch", workflow()), ("start_batch", workflow())


@hears("held_by_other")
def a_takeover_behind_an_advance(world: World) -> tuple[Call, Call]:
    """Find the batch alive: its lease began again."""
    batch = world.run("start_batch")
    world.sql("UPDATE batch_runs SET lease_expires_at = clock_timestamp() - interval '1 s'")
    named = {"batch_id": batch.batch_id, "owner_token": batch.owner_token}
    advance = workflow(**named, expected_cursor=None, new_cursor="100", n=100)
    return ("advance_batch", advance), ("start_batch", workflow())


@hears("replay")
def an_advance_behind_its_own_repeat(world: World) -> tuple[Call, Call]:
    """Count the items once."""
    batch = world.run("start_batch")
    named = {"batch_id": batch.batch_id, "owner_token": batch.owner_token}
    advance = workflow(**named, expected_cursor=None, new_cursor="100", n=100)
    return ("advance_batch", advance), ("advance_batch", advance)


@hears("held_by_other")
def an_advance_behind_the_end(world: World) -> tuple[Call, Call]:
    """Leave a finished batch where it is."""
    batch = world.run("start_batch")
    named = workflow(batch_id=batch.batch_id, owner_token=batch.owner_token)
    step = {"expected_cursor": None, "new_cursor": "100", "n": 100}
    return ("finish_batch", named | {"status": "complete"}), ("advance_batch", named | step)


@hears("replay")
def two_starts_of_a_run(_world: World) -> tuple[Call, Call]:
    """Remember one run."""
    return ("start_run", workflow(run_id=RUN)), ("start_run", workflow(run_id=RUN))


@hears("already_terminal")
def a_failure_of_a_run_behind_its_end(world: World) -> tuple[Call, Call]:
    """Leave an ended run as it is."""
    world.run("start_run", run_id=RUN)
    end = workflow(run_id=RUN)
    return ("complete_run", end | {"result": 1}), ("fail_run", end | {"error": "x"})


@hears("already_terminal")
def a_person_behind_the_end_of_a_run(world: World) -> tuple[Call, Call]:
    """End nothing twice."""
    world.run("start_run", run_id=RUN)
    ended = {"run_id": RUN, "lock_version": 1, "decision": "declare_ended", "statement": "gone"}
    return ("complete_run", workflow(run_id=RUN, result=1)), ("decide_run", REASON | ended)
