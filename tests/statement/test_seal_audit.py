"""seal_audit: a root hash over all audit rows written since the last seal."""

import psycopg
import pytest

from tests.support.database import Connect
from tests.support.factories import insert, make_workflow
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "tick"}


def note(office: Office, number: int = 1) -> None:
    """Leave this many audit rows."""
    for _ in range(number):
        office.run("write_fields", **office.given("e", {"plan": "pro"}, target="nowhere"))


def test_a_seal_covers_what_was_written_since_the_last(inner_office: Office) -> None:
    """Each row once, and the seal before it."""
    note(inner_office, 3)
    first = inner_office.seal()
    assert (first.outcome, first.n) == ("won", 3)
    note(inner_office, 2)
    second = inner_office.seal()
    assert (second.outcome, second.n) == ("won", 2)
    older, newer = inner_office.rows("audit_seals")
    assert (older["prev_seal"], newer["prev_seal"]) == (None, older["root_hash"])
    assert (older["to_tx"], older["rows"]) == (newer["from_tx"], 3)
    assert older["to_id"] < newer["from_id"] <= newer["to_id"]


def test_nothing_new_is_not_sealed(inner_office: Office) -> None:
    """Nor does sealing leave anything to be sealed."""
    assert inner_office.seal().outcome == "empty"
    note(inner_office)
    assert inner_office.seal().outcome == "won"
    assert inner_office.seal().outcome == "empty"
    assert len(inner_office.rows("audit_seals")) == 1
    assert [row["op"] for row in inner_office.rows("audit_events")] == ["write_fields"]


def test_what_an_open_transaction_wrote_waits_for_the_next_seal(
    inner_office: Office, connect: Connect
) -> None:
    """And what came after it, so that a sealed set never grows."""
    note(inner_office)
    inner_office.wait_for_older_transactions()
    slow = connect("owner")
    with slow.transaction():
        slow.execute(
            "SELECT * FROM ledger.set_policy(%s)",
            ['{"actor": "x", "reason": "x", "name": "nope", "value": 1}'],
        )
        note(inner_office, 2)
        assert inner_office.door.call("seal_audit", **WHO).n == 1
    assert inner_office.seal().n == 3
    (found,) = inner_office.door.call_many("verify_audit", **WHO)
    assert (found.outcome, found.detail) == ("empty", {"rows": 4, "seals": 2})


@inner_doors
def test_sealing_at_once_covers_each_row_once(racing_office: Office) -> None:
    """One after the other; the second may find nothing."""
    for _ in range(5):
        note(racing_office, 2)
        racing_office.wait_for_older_transactions()
        answers = race(*[lambda: racing_office.door.call("seal_audit", **WHO)] * 3)
        assert sorted(answer.outcome for answer in answers) == ["empty", "empty", "won"]
    (found,) = racing_office.door.call_many("verify_audit", **WHO)
    assert (found.outcome, found.detail) == ("empty", {"rows": 10, "seals": 5})


@inner_doors
def test_writers_and_seals_at_once_leave_a_whole_audit(racing_office: Office) -> None:
    """However they overlap."""
    race(
        lambda: note(racing_office, 15),
        lambda: note(racing_office, 15),
        *[lambda: [racing_office.door.call("seal_audit", **WHO) for _ in range(5)]] * 2,
    )
    racing_office.seal()
    (found,) = racing_office.door.call_many("verify_audit", **WHO)
    assert (found.outcome, found.detail["rows"]) == ("empty", 30)
    assert sum(row["rows"] for row in racing_office.rows("audit_seals")) == 30


def test_the_actor_is_named(sql_office: Office) -> None:
    """A refusal is audited like any other."""
    for wrong, path in (({"actor": None}, "actor"), ({"actor": "x", "limit": 1}, "limit")):
        refused = sql_office.call("seal_audit", **wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", path)


# -- append-only ---------------------------------------------------------------------------------

APPEND_ONLY = {
    "audit_events": "reason = 'other'",
    "audit_seals": "rows = 0",
    "evidence": "body = 'null'",
    "record_history": "changed = '{}'",
}


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_nobody_changes_what_was_recorded(
    sql_office: Office, connect: Connect, app_sql: psycopg.Connection, table: str
) -> None:
    """Not the owner, and nobody else either."""
    make_workflow(sql_office.owner, "noise")
    insert(sql_office.owner, "evidence", job_id="j", kind="receipt", source="x")
    note(sql_office)
    sql_office.seal()
    before = sql_office.owner.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    assert before
    assert before[0] > 0
    statements = (f"UPDATE {table} SET {APPEND_ONLY[table]}", f"DELETE FROM {table}")  # noqa: S608
    for statement in statements:
        with pytest.raises(psycopg.DatabaseError, match="append-only"):
            sql_office.owner.execute(statement)
        for session in (app_sql, connect("n8n"), connect("articles")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement)
    for session in (app_sql, connect("n8n"), connect("articles")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(f"TRUNCATE {table}")
    assert sql_office.owner.execute(f"SELECT count(*) FROM {table}").fetchone() == before  # noqa: S608


def test_a_partition_is_as_closed_as_its_table(sql_office: Office) -> None:
    """Whatever month a row is in."""
    note(sql_office)
    parts = sql_office.owner.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'audit_events'::regclass"
    ).fetchall()
    filled = [
        part
        for (part,) in parts
        if sql_office.owner.execute(f"SELECT 1 FROM {part}").fetchone()  # noqa: S608
    ]
    assert filled
    for part in filled:
        with pytest.raises(psycopg.DatabaseError, match="append-only"):
            sql_office.owner.execute(f"DELETE FROM {part}")  # noqa: S608


# -- partitions ----------------------------------------------------------------------------------


def last_month(office: Office) -> str:
    """Return the name of the farthest partition that is made ahead."""
    row = office.owner.execute(
        "SELECT 'audit_events_' || to_char(clock_timestamp() AT TIME ZONE 'UTC'"
        " + interval '3 months', 'YYYY_MM')"
    ).fetchone()
    assert row
    return str(row[0])


def is_partition(office: Office, name: str) -> bool:
    """Say whether a table is a partition of the audit."""
    found = office.owner.execute(
        "SELECT FROM pg_inherits WHERE inhparent = 'audit_events'::regclass"
        " AND inhrelid = to_regclass(%s)",
        [name],
    )
    return found.rowcount == 1


def test_a_seal_makes_the_next_months_beside_running_operations(
    inner_office: Office, connect: Connect
) -> None:
    """Neither waits for the other, however long an operation's transaction stays open."""
    name = last_month(inner_office)
    inner_office.owner.execute(f"DROP TABLE {name}")
    slow = connect("owner")
    with slow.transaction():
        slow.execute(
            "SELECT * FROM ledger.set_policy(%s)",
            ['{"actor": "x", "reason": "x", "name": "nope", "value": 1}'],
        )
        assert inner_office.door.call("seal_audit", **WHO).outcome == "empty"
        assert is_partition(inner_office, name)
        note(inner_office)
    assert inner_office.seal().n == 2


def test_a_month_that_cannot_be_made_yet_stops_no_seal(
    inner_office: Office, connect: Connect
) -> None:
    """It is made by a later one; until then its rows have a place."""
    name = last_month(inner_office)
    inner_office.owner.execute(f"DROP TABLE {name}")
    note(inner_office)
    inner_office.wait_for_older_transactions()
    reader = connect("app")
    with reader.transaction():
        reader.execute("SELECT count(*) FROM audit_events")
        assert inner_office.door.call("seal_audit", **WHO).n == 1
        assert not is_partition(inner_office, name)
    assert inner_office.seal().outcome == "empty"
    assert is_partition(inner_office, name)
