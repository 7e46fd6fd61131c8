"""The doors behind a broken connection: what was committed is answered, not denied.

Python and HTTP ask once more when the connection breaks under an operation, so that 503 means what
it says: nothing was recorded.
"""

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from ledger.errors import NotRecordedError
from sweeper.killmatrix.server import running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support import factories
from tests.support.database import Connect
from tests.support.doors import Refused, open_door
from tests.support.factories import HANDLE, Shop, order
from tests.support.processes import PATIENCE, wait_until
from tests.support.records import open_office

CUTS = [Fault.DROP_BEFORE, Fault.DROP_AFTER, Fault.CUT_MID_REPLY]
COMMITTED = [Fault.DROP_AFTER, Fault.CUT_MID_REPLY]


@pytest.fixture
def relay(transactional_db: None) -> Iterator[TcpRelay]:
    """Lead Django's connection through a relay."""
    login = settings.DB_APP
    with running(TcpRelay(("127.0.0.1", 0), f"postgresql://{login['HOST']}:{login['PORT']}")) as up:
        direct = {name: connection.settings_dict[name] for name in ("HOST", "PORT")}
        connection.close()
        host, port = up.server_address[:2]
        connection.settings_dict.update(HOST=str(host), PORT=str(port))
        yield up
        connection.close()
        connection.settings_dict.update(direct)


@pytest.fixture(params=["python", "http"])
def shop(
    request: pytest.FixtureRequest,
    relay: TcpRelay,
    connect: Connect,
    owner_sql: psycopg.Connection,
) -> Shop:
    """Give the shop, reached through both doors that have a connection of their own."""
    return Shop(open_door(request.param, connect, owner_sql), owner_sql)


@contextmanager
def lost(relay: TcpRelay, operation: str, *faults: Fault) -> Iterator[None]:
    """Lose the next answers of an operation, and see that each was lost."""
    for fault in faults:
        relay.arm(fault, within=operation.encode())
    before = len(relay.journal.entries)
    yield
    hit = [entry["mode"] for entry in list(relay.journal.entries)[before:]]
    assert [mode for mode in hit if mode is not Fault.FORWARD] == list(faults)


@pytest.mark.parametrize("fault", CUTS)
def test_a_lost_answer_is_asked_for_again(relay: TcpRelay, shop: Shop, fault: Fault) -> None:
    """The caller hears the stored result, and never that nothing happened."""
    job = factories.marked(shop, HANDLE)
    with lost(relay, "complete_job", fault):
        answer = shop.run("complete_job", **job.mine, result={"ok": 1})
    assert answer.outcome == ("replay" if fault in COMMITTED else "won")
    assert shop.job(job)["state"] == "done"
    assert len(shop.rows("idem", status="done")) == 1


@pytest.mark.parametrize("fault", COMMITTED)
def test_a_mark_whose_answer_was_lost_lets_nobody_send(
    relay: TcpRelay, shop: Shop, fault: Fault
) -> None:
    """Only the sweeper may find out what came of it."""
    job = factories.claimed(shop, HANDLE)
    with lost(relay, "mark_sending", fault):
        answer = shop.run("mark_sending", **job.mine, idem_key=job.idem_key)
    assert answer.outcome == "already_marked"
    assert shop.job(job)["send_no"] == 1


def test_a_claim_is_resumed_by_its_execution(relay: TcpRelay, shop: Shop) -> None:
    """A workflow that makes no token of its own names its execution."""
    with lost(relay, "claim_job", Fault.DROP_AFTER):
        answer = shop.run("claim_job", **order(), execution_id="71")
    assert (answer.outcome, answer.detail) == ("won", {"resumed": True})


@pytest.mark.parametrize("name", ["python", "http"])
def test_a_conflict_is_there_while_its_losers_answer_is_held_back(
    name: str, relay: TcpRelay, connect: Connect, owner_sql: psycopg.Connection
) -> None:
    """Whoever looks now can decide what the loser has not heard of yet."""
    lines: Queue[int] = Queue()

    def lose() -> Any:
        connection.ensure_connection()
        lines.put(connection.connection.pgconn.socket)
        try:
            return office.run("write_fields", **office.given("e", {"plan": "trial"}))
        finally:
            connections.close_all()

    door = open_door(name, connect, owner_sql)
    with open_office(door, owner_sql) as office, ThreadPoolExecutor(1) as pool:
        office.change(plan="pro")
        relay.arm(Fault.HANG, within=b"write_fields")
        losing = pool.submit(lose)
        line = socket.socket(fileno=os.dup(lines.get(timeout=PATIENCE)))
        (row,) = wait_until(lambda: office.rows("conflicts"), "the conflict is there")
        assert (row["state"], row["current_snapshot"]["plan"]) == ("detected", "pro")
        assert not losing.done()
        line.shutdown(socket.SHUT_WR)  # the relay lets the answer go
        line.close()
        lost = losing.result(PATIENCE)
    assert (lost.outcome, lost.conflict_id) == ("stale_version", row["id"])


@pytest.mark.parametrize("fault", CUTS)
def test_who_is_cut_off_twice_is_told_to_call_again(
    relay: TcpRelay, shop: Shop, fault: Fault
) -> None:
    """Calling again is right, whatever happened."""
    with lost(relay, "enqueue_job", fault, fault), pytest.raises((NotRecordedError, Refused)):
        shop.run("enqueue_job", **order())
    assert len(shop.rows("jobs")) == (fault in COMMITTED)
    again = shop.run("enqueue_job", **order())
    assert again.outcome == ("matched" if fault in COMMITTED else "inserted")
