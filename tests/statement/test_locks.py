"""Lock first, read afterwards, and lock in one order.

One operation has written and not yet committed; the other must wait for it and answer what is true
once it is. And while an operation waits for a lock it holds none that comes later in the order.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any

import orjson
import psycopg
import pytest
from psycopg import sql

from tests.support.database import Connect
from tests.support.doors import SqlDoor
from tests.support.lost import CASES, World
from tests.support.meetings import MEETINGS, Meeting
from tests.support.races import PATIENCE

ORDER = ["idem", "jobs", "failed_jobs", "runs", "batch_runs", "conflicts", "customers"]
"""The one lock order."""
WAITS_FOR_ME = (
    "SELECT EXISTS (SELECT FROM pg_locks"
    " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


def someone_waits(holder: psycopg.Connection, call: "Future[Any]") -> bool:
    """Say whether a call came to wait for this session; False when it ended without."""
    end = monotonic() + PATIENCE
    while not call.done():
        row = holder.execute(WAITS_FOR_ME).fetchone()
        if row and row[0]:
            return True
        assert monotonic() < end, "it neither ends nor waits"
        sleep(0.005)
    return False


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
        assert waiting.result(PATIENCE).outcome == outcome


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
ALONE = {
    "idem": ["write_fields-for_the_third_time", "promote_conflicts"],
    "jobs": ["heartbeat_job"],
}
"""Cases that lock one of the two."""


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table in ALONE for name in [*BOTH, *ALONE[table]]]
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
