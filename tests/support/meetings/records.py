"""Two calls that meet at one record or one report of a failure."""

from tests.support import desk
from tests.support.factories import SWEEPER
from tests.support.lost import World
from tests.support.lost.cases import workflow
from tests.support.meetings.cases import Call, hears


@hears("replay")
def a_report_behind_the_first(_world: World) -> tuple[Call, Call]:
    """Make one letter of one failure."""
    failed = workflow(payload={"a": 1}, error_message="no", item_key="i")
    return ("post_failed_job", failed), ("post_failed_job", failed)


@hears("replay")
def two_reports_of_one_job_that_never_was(_world: World) -> tuple[Call, Call]:
    """Make one letter of one job, also where nothing can be locked."""
    failed = workflow(job_id="gone", error_message="no")
    return (
        ("post_failed_job", failed | {"payload": {"a": 1}}),
        ("post_failed_job", failed | {"payload": {"a": 2}}),
    )


@hears("stale_version")
def a_write_behind_another(world: World) -> tuple[Call, Call]:
    """Find the revision gone."""
    world.customers()
    write = {"target": "customers", "record_key": "1002", "expected_revision": 1}
    first = write | {"changes": {"seats": 4}, "event": {"id": "b"}}
    second = write | {"changes": {"phone": "1"}, "event": {"id": "f"}}
    return (
        ("write_fields", first | {"workflow": desk.BILLING.workflow}),
        ("write_fields", second | {"workflow": desk.FORM.workflow}),
    )


@hears("empty")
def a_promotion_behind_the_win(world: World) -> tuple[Call, Call]:
    """Open nothing that was healed meanwhile."""
    world.customers()
    assert desk.write(desk.BILLING, "b", 1, plan="pro").outcome == "won"
    assert desk.write(desk.FORM, "f", 1, phone="1").outcome == "stale_version"
    world.sql("UPDATE conflicts SET created_at = created_at - interval '1 hour'")
    write = {"target": "customers", "record_key": "1002", "expected_revision": 2}
    write |= {"workflow": desk.FORM.workflow, "changes": {"phone": "1"}, "event": {"id": "f"}}
    return ("write_fields", write), ("promote_conflicts", {"actor": SWEEPER})


@hears("replay")
def a_write_behind_its_own_repeat(world: World) -> tuple[Call, Call]:
    """Write once for one event."""
    world.customers()
    write = {"target": "customers", "record_key": "1002", "expected_revision": 1}
    write |= {"workflow": desk.FORM.workflow, "changes": {"phone": "1"}, "event": {"id": "f"}}
    return ("write_fields", write), ("write_fields", write)
