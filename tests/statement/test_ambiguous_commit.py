"""Any reply can be lost after the commit: the repeat hears what rule 6 says and changes nothing.

A relay stands before PostgreSQL and cuts the connection once the statement is committed, so that
nobody but the database knows. Cases of every operation that writes are in tests/support/lost/; an
operation without one fails here.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from ledger import roles
from ledger.catalog import OPERATIONS
from sweeper.killmatrix.server import running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support.database import Connect, Logins, database
from tests.support.doors import SqlDoor
from tests.support.lost import CASES, Case, World
from tests.support.tables import Tables

READING = {
    "daily_report",
    "explain_job",
    "lookup_key",
    "read_conflict",
    "read_record",
    "verify_audit",
}
"""Operations that change no row: their repeat is only another look."""


@pytest.fixture(scope="module")
def relay() -> Iterator[TcpRelay]:
    """Run a relay before the server of the test database."""
    login = settings.DB_APP
    with running(TcpRelay(("127.0.0.1", 0), f"postgresql://{login['HOST']}:{login['PORT']}")) as up:
        yield up


@pytest.fixture
def lost_through(relay: TcpRelay, _logins: Logins) -> "Lose":
    """Give a way to call an operation and never hear of it."""
    return Lose(relay, _logins)


def changes(events: list[dict[str, Any]]) -> int:
    """Count the rows that tell of a change."""
    return sum(event["row_count"] > 0 for event in events)


def without(rows: dict[str, list[dict[str, Any]]], case: Case) -> dict[str, list[dict[str, Any]]]:
    """Leave out what the repeat may touch."""
    return {
        table: [{k: v for k, v in row.items() if k not in case.moves} for row in found]
        for table, found in rows.items()
        if table not in case.grows
    }


class Lose:
    """Calls operations through the relay and loses what happened."""

    def __init__(self, relay: TcpRelay, logins: Logins) -> None:
        """Take the relay and the logins."""
        self._relay, self._logins = relay, logins

    def __call__(self, fault: Fault, operation: str, argument: dict[str, Any]) -> None:
        """Call, and never hear."""
        login = self._logins.login("n8n" if OPERATIONS[operation].n8n else "app")
        host, port = self._relay.server_address[:2]
        statement = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)").format(sql.Identifier(operation))
        with roles.connect(login | {"HOST": str(host), "PORT": str(port)}, database()) as session:
            self._relay.arm(fault)
            with pytest.raises(psycopg.OperationalError):
                session.execute(statement, [orjson.dumps(argument, default=str).decode()])
        entry = self._relay.journal.entries[-1]
        assert (entry["mode"], entry["answered"]) == (fault, fault is not Fault.DROP_BEFORE)


def test_every_operation_that_writes_has_a_case() -> None:
    """A new operation is thought through here before it is anything."""
    assert {case.operation for case in CASES} == set(OPERATIONS) - READING
    assert max(Counter(case.name for case in CASES).values()) == 1


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_lost_answer_is_repeated_without_harm(
    case: Case, world: World, lost_through: Lose, connect: Connect
) -> None:
    """Lost before: nothing was recorded. Lost after: one effect, told once, and rule 6's answer."""
    argument = case.arrange(world)
    ledger = Tables(world.owner)
    before, started = ledger.rows(), ledger.last_event()

    lost_through(Fault.DROP_BEFORE, case.operation, argument)
    assert (ledger.rows(), ledger.last_event()) == (before, started)

    lost_through(Fault.DROP_AFTER, case.operation, argument)
    done, told = ledger.rows(), ledger.events(started)
    assert {event["outcome"] for event in told if event["op"] == case.operation} <= {case.lost}
    assert changes(told) == case.changes, told
    assert (done, ledger.last_event()) != (before, started)

    since = ledger.last_event()
    repeated = SqlDoor(connect).call_many(case.operation, **argument)
    assert {row.outcome for row in repeated} == {case.repeat}, repeated
    for row in repeated:
        assert {name: getattr(row, name) for name in case.says} == case.says
        assert case.detail.items() <= (row.detail or {}).items(), row
    assert without(ledger.rows(), case) == without(done, case)
    told_again = ledger.events(since)
    assert changes(told_again) == case.repeat_changes, told_again
