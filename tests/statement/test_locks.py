"""Lock first, read afterwards, and lock in one order.

One operation has written and not yet committed; the other must wait for it and answer what is true
once it is. And while an operation waits for a lock it holds none that comes later in the order.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import orjson
import pytest
from psycopg import sql

from tests.support.database import Connect
from tests.support.doors import SqlDoor
from tests.support.factories import Shop, claimed, enqueued, expire, marked, order
from tests.support.lost import CASES, World
from tests.support.lost.cases import workflow
from tests.support.meetings import MEETINGS, Meeting
from tests.support.races import PATIENCE, someone_waits
from tests.support.tables import Tables

ORDER = ["idem", "jobs", "failed_jobs", "runs", "batch_runs", "conflicts", "customers"]
"""The one lock order."""

# -- what it finds after it waited -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "meeting"), MEETINGS, ids=[meeting.__name__ for _, meeting in MEETINGS]
)
def test_who_waited_answers_what_is_true_by_then(
    outcome: str, meeting: Meeting, world: World, connect: Connect
) -> None:
    """Nothing of what it read before counts."""
    (first, given), (second, argument) = meeting(world)
    holder, door = connect("owner"), SqlDoor(connect)
    statement = sql.SQL("SELECT FROM ledger.{}(%s::jsonb)").format(sql.Identifier(first))
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute(statement, [orjson.dumps(given, default=str).decode()])
            waiting = pool.submit(door.call, second, **argument)
            assert someone_waits(holder, waiting), waiting.result()
            told = Tables(world.owner).last_event()
        assert waiting.result(PATIENCE).outcome == outcome
    for event in Tables(world.owner).events(told):
        if event["op"] == second:
            assert 0 < event["lock_wait_ms"] < event["duration_ms"], event


def test_the_time_somebody_waited_is_on_record(world: World, connect: Connect) -> None:
    """All of it, beside how long the whole took: a slow operation and a busy row look different."""
    mine = workflow(**marked(world.shop).mine)
    holder = connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute("SELECT FROM jobs FOR UPDATE")
            waiting = pool.submit(world.run, "complete_job", **mine, result=1)
            assert someone_waits(holder, waiting), waiting.result()
            holder.execute("SELECT pg_sleep(0.3)")
        assert waiting.result(PATIENCE).outcome == "won"
    (event,) = world.shop.rows("audit_events", op="complete_job")
    assert 300 <= event["lock_wait_ms"] < event["duration_ms"], event


@pytest.mark.parametrize("how", ["heartbeat", "claim", "tick", "batch"])
def test_a_lease_begins_when_its_row_is_locked(how: str, world: World, connect: Connect) -> None:
    """Time spent waiting is not taken from it."""
    table, operation, argument = {
        "heartbeat": lambda: ("jobs", "heartbeat_job", claimed(world.shop, lease_seconds=60).mine),
        "claim": lambda: ("jobs", "claim_job", _expired(world.shop)),
        "tick": lambda: ("sweep_locks", "take_sweep_lock", _tick(world.shop)),
        "batch": lambda: ("batch_runs", "advance_batch", _batch(world.shop)),
    }[how]()
    holder = connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute(sql.SQL("SELECT FROM {} FOR UPDATE").format(sql.Identifier(table)))
            waiting = pool.submit(world.run, operation, **argument)
            assert someone_waits(holder, waiting), waiting.result()
            (now,) = holder.execute("SELECT clock_timestamp()").fetchone() or ()
        answer = waiting.result(PATIENCE)
    assert answer.outcome == "won"
    assert answer.lease_expires_at > now + timedelta(seconds=60)


def _expired(shop: Shop) -> dict[str, Any]:
    expire(shop, claimed(shop))
    return order(lease_seconds=60)


def _tick(shop: Shop) -> dict[str, Any]:
    token = shop.run("take_sweep_lock", name="sweep", lease_seconds=60).token
    return {"name": "sweep", "owner_token": token, "lease_seconds": 60}


def _batch(shop: Shop) -> dict[str, Any]:
    batch = shop.run("start_batch")
    shop.owner.execute("UPDATE policies SET value = '60' WHERE name = 'batch_lease_s'")
    mine = {"batch_id": batch.batch_id, "owner_token": batch.owner_token}
    return mine | {"expected_cursor": None, "new_cursor": "1", "n": 1}


def test_a_result_behind_a_heartbeat_ends_the_job(world: World, connect: Connect) -> None:
    """A version that moved while it waited is no reason to lose what was won."""
    job = marked(world.shop)
    holder = connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            beat = [orjson.dumps(workflow(**job.mine), default=str).decode()]
            holder.execute("SELECT FROM ledger.heartbeat_job(%s::jsonb)", beat)
            waiting = pool.submit(world.run, "complete_job", **job.mine, result=1)
            assert someone_waits(holder, waiting), waiting.result()
        assert waiting.result(PATIENCE).outcome == "won"
    assert world.shop.job(job)["state"] == "done"


def test_a_tick_that_is_free_is_taken_by_one(world: World, connect: Connect) -> None:
    """Two that come to the free lock read it one after the other."""
    held = world.run("take_sweep_lock", name="sweep")
    world.run("release_sweep_lock", name="sweep", token=held.token, succeeded=True)
    holder = connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute("SELECT FROM sweep_locks FOR UPDATE")
            waiting = pool.submit(world.run, "take_sweep_lock", name="sweep")
            assert someone_waits(holder, waiting), waiting.result()
            mine = orjson.dumps({"actor": "first", "name": "sweep"}).decode()
            holder.execute("SELECT FROM ledger.take_sweep_lock(%s::jsonb)", [mine])
        assert waiting.result(PATIENCE).outcome == "held_by_other"


# -- the one order ---------------------------------------------------------------------------------


BY_NAME = {case.name: case for case in CASES}
BOTH = [
    *("claim_job-reclaim", "mark_sending", "record_receipt", "complete_job", "complete_jobs"),
    *("fail_job", "release_job", "decide_job-requeue", "decide_job-review", "add_evidence"),
    *("decide_conflict-unknown_send_resend", "decide_conflict-result_mismatch_keep"),
    *("approve_decision", "reject_decision", "withdraw_decision", "confirm_landed"),
    *("decide_failed_job-resend", "decide_queued_job-abandon", "retry_failed_job"),
]
"""Cases that lock a key and its job."""
LOCKING = {
    "idem": [*BOTH, "write_fields-for_the_third_time", "promote_conflicts"],
    "jobs": [*BOTH, "heartbeat_job"],
    "conflicts": ["write_fields-for_the_third_time"],
}
"""Cases that lock a row of a table, by the table."""


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, names in LOCKING.items() for name in names]
)
def test_who_waits_for_a_row_holds_none_that_comes_later(
    table: str, name: str, world: World, connect: Connect
) -> None:
    """Else two operations could wait for each other."""
    case = BY_NAME[name]
    argument = case.arrange(world)
    holder, other, door = connect("owner"), connect("owner"), SqlDoor(connect)
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute(sql.SQL("SELECT FROM {} FOR UPDATE").format(sql.Identifier(table)))
            waiting = pool.submit(door.call_many, case.operation, **argument)
            assert someone_waits(holder, waiting), waiting.result()
            for later in ORDER[ORDER.index(table) + 1 :]:
                if other.execute("SELECT to_regclass(%s)", [later]).fetchone() != (None,):
                    every = sql.SQL("SELECT FROM {} FOR UPDATE NOWAIT")
                    other.execute(every.format(sql.Identifier(later)))
        assert {row.outcome for row in waiting.result(PATIENCE)} == {case.lost}


def test_items_of_one_call_are_locked_in_key_order(world: World, connect: Connect) -> None:
    """Two calls with the same items in another order wait for each other, never in a circle."""
    second, first = marked(world.shop, event=2), marked(world.shop, event=1)
    items = [{**job.mine, "result": 1} for job in (second, first)]
    holder, other, door = connect("owner"), connect("owner"), SqlDoor(connect)
    row = "SELECT FROM idem WHERE idem_key = %s FOR UPDATE NOWAIT"
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute(row, [first.idem_key])
            waiting = pool.submit(door.call_many, "complete_jobs", **workflow(items=items))
            assert someone_waits(holder, waiting), waiting.result()
            other.execute(row, [second.idem_key])
        assert {answer.outcome for answer in waiting.result(PATIENCE)} == {"won"}


# -- who never waits -------------------------------------------------------------------------------

NEVER_WAIT = {
    "claim_next_job": ["idem", "jobs"],
    "claim_next_jobs": ["idem", "jobs"],
    "take_expired_jobs": ["idem", "jobs"],
    "archive_keys": ["idem"],
    "purge_jobs": ["jobs"],
    "take_outbox": ["outbox"],
}


@pytest.mark.parametrize(
    ("operation", "table"), [(name, table) for name, all_ in NEVER_WAIT.items() for table in all_]
)
def test_who_never_waits_passes_locked_rows_by(
    operation: str, table: str, world: World, connect: Connect
) -> None:
    """What somebody else works on is not there for now."""
    case = BY_NAME[operation]
    argument = case.arrange(world)
    holder, door = connect("owner"), SqlDoor(connect)
    with ThreadPoolExecutor(1) as pool, holder.transaction():
        holder.execute(sql.SQL("SELECT FROM {} FOR UPDATE").format(sql.Identifier(table)))
        calling = pool.submit(door.call, operation, **argument)
        assert not someone_waits(holder, calling)
        assert calling.result().outcome == "empty"
    assert {row.outcome for row in door.call_many(operation, **argument)} == {"won"}


def test_a_question_that_comes_while_keys_are_picked_holds_its_key(
    world: World, connect: Connect
) -> None:
    """What the archiver saw before it had the key is looked at again once it has it."""
    argument = BY_NAME["archive_keys"].arrange(world)
    holder, door = connect("owner"), SqlDoor(connect)
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute("LOCK TABLE failed_jobs IN ACCESS EXCLUSIVE MODE")
            calling = pool.submit(door.call, "archive_keys", **argument)
            assert someone_waits(holder, calling), calling.result()
            asked = world.run("claim_job", **order() | {"payload": {"amount": 41}})
            assert asked.outcome == "payload_mismatch"
        assert calling.result(PATIENCE).outcome == "empty"


def test_a_lane_that_somebody_just_entered_is_passed_by(world: World, connect: Connect) -> None:
    """Nobody waits for a lane, and nobody runs beside who is about to run in it."""
    holder, door = connect("owner"), SqlDoor(connect)
    entering = workflow(**order(event=1, serial_key="lane") | {"payload": "of its own"})
    with ThreadPoolExecutor(1) as pool, holder.transaction():
        statement = "SELECT outcome FROM ledger.claim_job(%s::jsonb)"
        won = holder.execute(statement, [orjson.dumps(entering).decode()]).fetchone()
        assert won == ("won",)
        enqueued(world.shop, event=2, serial_key="lane")
        for operation in ("claim_next_job", "claim_next_jobs"):
            calling = pool.submit(door.call, operation, **workflow())
            assert not someone_waits(holder, calling), operation
            assert calling.result().outcome == "empty"
