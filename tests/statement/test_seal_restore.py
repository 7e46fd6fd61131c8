"""Seals where transaction numbers do not tell everything: a restore, and other databases.

A restore into another cluster is acted here, by giving later rows lower numbers under another name
of the cluster; tests/integration/test_restore.py makes a real one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings

from ledger import roles
from tests.support.database import Connect, guarded
from tests.support.records import Office

WHO = {"actor": "tick"}
RECORDED = ("audit_events", "audit_seals")


def note(office: Office, number: int = 1) -> None:
    """Leave this many audit rows."""
    for _ in range(number):
        office.run("write_fields", **office.given("e", {"plan": "pro"}, target="nowhere"))


def verify(office: Office) -> list[tuple[str, int | None]]:
    """Return what is broken, and in which seal, by their order."""
    seals = [row["id"] for row in office.rows("audit_seals")]
    found = office.door.call_many("verify_audit", **WHO)
    return [
        (row.problem, seals.index(row.seal_id) if row.seal_id else None)
        for row in found
        if row.outcome == "won"
    ]


@contextmanager
def another_cluster(owner: psycopg.Connection) -> Iterator[None]:
    """Let transaction numbers begin anew, under another system identifier."""
    (number,) = owner.execute("SELECT pg_current_xact_id()::text::bigint").fetchone() or (0,)
    back = number - 5
    owner.execute(
        "ALTER FUNCTION ledger.cluster() RENAME TO real_cluster;"
        "ALTER FUNCTION ledger.open_since() RENAME TO real_open_since;"
        "CREATE FUNCTION ledger.cluster() RETURNS bigint LANGUAGE plpgsql STABLE AS"
        " 'BEGIN RETURN 42; END';"
        "CREATE FUNCTION ledger.open_since() RETURNS bigint LANGUAGE plpgsql AS"
        f" 'BEGIN RETURN ledger.real_open_since() - {back}; END';"
        "ALTER TABLE audit_events ALTER COLUMN tx"
        f" SET DEFAULT pg_current_xact_id()::text::bigint - {back}"
    )
    try:
        yield
    finally:
        owner.execute(
            "DROP FUNCTION ledger.cluster(); DROP FUNCTION ledger.open_since();"
            "ALTER FUNCTION ledger.real_cluster() RENAME TO cluster;"
            "ALTER FUNCTION ledger.real_open_since() RENAME TO open_since;"
            "ALTER TABLE audit_events ALTER COLUMN tx"
            " SET DEFAULT (pg_current_xact_id()::text)::bigint"
        )


@pytest.fixture
def restored(sql_office: Office) -> Iterator[Office]:
    """Give an audit with a seal over three rows, two rows without, and two of another cluster."""
    note(sql_office, 3)
    assert sql_office.seal().n == 3
    note(sql_office, 2)
    with another_cluster(sql_office.owner):
        note(sql_office, 2)
        yield sql_office


def _seal(office: Office) -> Any:
    return office.door.call("seal_audit", **WHO)


# -- a restore -----------------------------------------------------------------------------------


def test_the_numbers_of_another_cluster_break_no_seal(restored: Office) -> None:
    """Neither before its first seal nor after; every row is under one."""
    sealed, *_, new = restored.rows("audit_events")
    assert new["tx"] < sealed["tx"]
    assert verify(restored) == []
    assert (_seal(restored).n, verify(restored)) == (4, [])
    note(restored, 3)
    assert (_seal(restored).n, verify(restored)) == (3, [])
    assert _seal(restored).outcome == "empty"
    first, closing, last = restored.rows("audit_seals")
    assert (first["closes"], closing["closes"], last["closes"]) == (False, True, False)
    assert (closing["cluster"], last["cluster"]) == (first["cluster"], 42)
    assert (closing["floor_id"], last["floor_id"]) == (0, closing["to_id"])
    assert closing["prev_seal"] == first["root_hash"]


def test_numbers_that_went_back_close_the_seals_without_a_name(sql_office: Office) -> None:
    """Where the system identifier is a secret, or a copy has the same."""
    note(sql_office, 2)
    assert sql_office.seal().n == 2
    owner = sql_office.owner
    (name,) = owner.execute("SELECT ledger.cluster()").fetchone() or (0,)
    with another_cluster(owner):
        owner.execute(
            "CREATE OR REPLACE FUNCTION ledger.cluster() RETURNS bigint LANGUAGE plpgsql STABLE"
            f" AS 'BEGIN RETURN {name}; END'"
        )
        note(sql_office)
        assert (_seal(sql_office).n, verify(sql_office)) == (1, [])
        note(sql_office)
        assert (_seal(sql_office).n, verify(sql_office)) == (1, [])
    assert [row["closes"] for row in sql_office.rows("audit_seals")] == [False, True, False]


def test_another_cluster_with_higher_numbers_is_another_one(sql_office: Office) -> None:
    """Its numbers may come down again with the next restore."""
    note(sql_office, 2)
    assert sql_office.seal().n == 2
    note(sql_office)
    sql_office.owner.execute("ALTER FUNCTION ledger.cluster() RENAME TO real_cluster")
    sql_office.owner.execute(
        "CREATE FUNCTION ledger.cluster() RETURNS bigint LANGUAGE plpgsql STABLE AS"
        " 'BEGIN RETURN 42; END'"
    )
    try:
        note(sql_office)
        assert (_seal(sql_office).n, verify(sql_office)) == (2, [])
        note(sql_office)
        assert (sql_office.seal().n, verify(sql_office)) == (1, [])
    finally:
        sql_office.owner.execute("DROP FUNCTION ledger.cluster()")
        sql_office.owner.execute("ALTER FUNCTION ledger.real_cluster() RENAME TO cluster")
    assert [row["closes"] for row in sql_office.rows("audit_seals")] == [False, True, False]


@pytest.mark.parametrize("place", range(8))
def test_a_row_that_is_gone_is_missed_on_both_sides(restored: Office, place: int) -> None:
    """Of the first seal, of the closing one, and of those after it."""
    _seal(restored)
    note(restored)
    _seal(restored)
    row = restored.rows("audit_events")[place]
    with _unguarded(restored):
        restored.owner.execute("DELETE FROM audit_events WHERE id = %s", [row["id"]])
    seal = 0 if place < 3 else 1 if place < 7 else 2
    assert verify(restored) == [("rows_missing_or_added", seal)]


@pytest.mark.parametrize(("place", "seal"), [(0, 0), (3, 1), (5, 1), (7, 2)])
def test_a_row_put_in_later_is_one_too_many_on_both_sides(
    restored: Office, place: int, seal: int
) -> None:
    """Beside a row of each seal, under its own transaction."""
    _seal(restored)
    note(restored)
    _seal(restored)
    row = restored.rows("audit_events")[place]
    with _unguarded(restored):
        # A number of the sequence that no row took, as after an insert that was undone.
        restored.owner.execute("UPDATE audit_events SET id = id * 10")
        restored.owner.execute(
            "UPDATE audit_seals SET from_id = from_id * 10, to_id = to_id * 10,"
            " floor_id = floor_id * 10"
        )
        _rehash(restored)
        assert verify(restored) == []
        restored.owner.execute(
            "INSERT INTO audit_events (id, tx, actor_kind, actor, op, outcome, key, expected_hash,"
            " actual_hash, row_count, lock_wait_ms, duration_ms, row_hash)"
            " VALUES (%s, %s, 'human', 'eve', 'x', 'won', 'k', 'e', 'a', 1, 0, 0, '')",
            [row["id"] * 10 - 1, row["tx"]],
        )
        restored.owner.execute("UPDATE audit_events a SET row_hash = ledger.audit_hash(a)")
    assert verify(restored) == [("rows_missing_or_added", seal)]


def test_a_closing_seal_that_is_gone_is_missed(restored: Office) -> None:
    """Or one could hide the rows under it."""
    _seal(restored)
    note(restored)
    _seal(restored)
    with _unguarded(restored):
        restored.owner.execute("DELETE FROM audit_seals WHERE closes")
    assert ("seal_missing_before", 1) in verify(restored)


def test_a_writer_that_is_not_done_puts_the_closing_off(restored: Office, connect: Connect) -> None:
    """It must not miss that writer's row; nobody waits longer than a second."""
    slow = connect("owner")
    with slow.transaction():
        slow.execute(
            "SELECT * FROM ledger.set_policy(%s)",
            ['{"actor": "x", "reason": "x", "name": "nope", "value": 1}'],
        )
        assert _seal(restored).outcome == "empty"
    assert (_seal(restored).n, verify(restored)) == (5, [])


@contextmanager
def _unguarded(office: Office) -> Iterator[None]:
    for table in RECORDED:
        office.owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    try:
        yield
    finally:
        for table in RECORDED:
            office.owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def _rehash(office: Office) -> None:
    """Make hashes and seals fit again, as somebody could who may do everything."""
    office.owner.execute("UPDATE audit_events a SET row_hash = ledger.audit_hash(a)")
    before = None
    for seal in office.rows("audit_seals"):
        office.owner.execute(
            "UPDATE audit_seals SET prev_seal = %s WHERE id = %s", [before, seal["id"]]
        )
        row = office.owner.execute(
            "UPDATE audit_seals s SET root_hash = (ledger.seal_hash(s)).root WHERE id = %s"
            " RETURNING root_hash",
            [seal["id"]],
        ).fetchone()
        assert row
        before = row[0]


# -- other databases of the server ---------------------------------------------------------------


@pytest.fixture
def elsewhere() -> Iterator[psycopg.Connection]:
    """Log in to another database of the same server."""
    with roles.connect(settings.DB_OWNER, "postgres") as session:
        yield session


def test_a_transaction_of_another_database_is_not_waited_for(
    inner_office: Office, elsewhere: psycopg.Connection
) -> None:
    """It can write nothing here."""
    with elsewhere.transaction():
        elsewhere.execute("SELECT pg_current_xact_id()")
        note(inner_office, 2)
        assert (_seal(inner_office).n, verify(inner_office)) == (2, [])
        note(inner_office)
    assert (_seal(inner_office).n, verify(inner_office)) == (1, [])


def test_what_this_very_transaction_wrote_is_not_sealed_by_it(sql_office: Office) -> None:
    """It may write more."""
    note(sql_office)
    sql_office.wait_for_older_transactions()
    write = "SELECT * FROM ledger.set_policy(%s)"
    nope = ['{"actor": "x", "reason": "x", "name": "nope", "value": 1}']
    seal = """SELECT n FROM ledger.seal_audit('{"actor": "tick"}')"""
    with sql_office.owner.transaction():
        sql_office.owner.execute(write, nope)
        note(sql_office)
        assert sql_office.owner.execute(seal).fetchone() == (1,)
        sql_office.owner.execute(write, nope)
    assert (sql_office.seal().n, verify(sql_office)) == (3, [])


# -- nothing is emptied --------------------------------------------------------------------------


def test_nobody_empties_what_is_only_added_to(sql_office: Office) -> None:
    """Not the owner, not a part of a table, and not beside another one."""
    note(sql_office)
    there = guarded(sql_office.owner)
    parts = sql_office.owner.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'audit_events'::regclass"
    ).fetchall()
    whole = {"audit_events", "audit_seals", "evidence", "record_history"}
    assert set(there) == whole | {part for (part,) in parts}
    for table in [*there, *(f"jobs, {table}" for table in there)]:
        with pytest.raises(psycopg.DatabaseError, match="append-only"):
            sql_office.owner.execute(f"TRUNCATE {table} CASCADE")
    assert sql_office.rows("audit_events")


def test_a_month_made_later_is_as_closed(sql_office: Office) -> None:
    """The seal makes it."""
    row = sql_office.owner.execute(
        "SELECT 'audit_events_' || to_char(clock_timestamp() AT TIME ZONE 'UTC'"
        " + interval '3 months', 'YYYY_MM')"
    ).fetchone()
    assert row
    sql_office.owner.execute(f"DROP TABLE {row[0]}")
    sql_office.seal()
    with pytest.raises(psycopg.DatabaseError, match="append-only"):
        sql_office.owner.execute(f"TRUNCATE {row[0]}")
