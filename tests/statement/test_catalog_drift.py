"""What the catalogs hold is what the files say, function by function and row by row."""

from typing import Any

import psycopg
import pytest
from psycopg import sql

from ledger import shipped
from ledger.management.commands.freeze_functions import changed_texts
from ledger.operations.specification import FUNCTIONS
from ledger.sql.install import FROZEN, HERE

pytestmark = pytest.mark.django_db(transaction=True)

FILES = {path.stem: path.read_text() for path in FUNCTIONS.glob("*.sql")}


def test_every_text_equals_its_newest_frozen_copy() -> None:
    """Or a new installation would not be what the files say."""
    assert changed_texts() == []
    for name, frozen in (("foundation", "0002_foundation"), ("triggers", "0004_triggers")):
        assert (HERE / f"{name}.sql").read_text() == (FROZEN / f"{frozen}.sql").read_text()


FACTS = """
SELECT p.prosrc, p.proconfig, p.provolatile::text, p.prosecdef, p.proisstrict,
    p.proparallel::text, pg_get_function_result(p.oid), pg_get_function_arguments(p.oid),
    obj_description(p.oid, 'pg_proc')
FROM pg_proc p WHERE p.pronamespace = 'ledger'::regnamespace AND p.proname = %s
"""


def test_every_function_is_what_its_file_says(owner_sql: psycopg.Connection) -> None:
    """Dropped and made again from its file, nothing about it differs."""
    drifted = []
    for name, text in sorted(FILES.items()):
        before = owner_sql.execute(FACTS, [name]).fetchall()
        with owner_sql.transaction(force_rollback=True):
            owner_sql.execute("SET LOCAL client_min_messages = error")
            owner_sql.execute(
                sql.SQL("DROP FUNCTION ledger.{} CASCADE").format(sql.Identifier(name))
            )
            owner_sql.execute(text.encode())
            if owner_sql.execute(FACTS, [name]).fetchall() != before or len(before) != 1:
                drifted.append(name)
    assert drifted == []


def test_every_view_is_what_its_file_says(owner_sql: psycopg.Connection) -> None:
    """The same for the queue and the sources' own view."""
    for path in (HERE / "views").glob("*.sql"):
        view = sql.Identifier("public", path.stem)
        shown = sql.SQL("SELECT pg_get_viewdef({}::regclass)").format(
            sql.Literal(f"public.{path.stem}")
        )
        before = owner_sql.execute(shown).fetchone()
        with owner_sql.transaction(force_rollback=True):
            owner_sql.execute("SET LOCAL client_min_messages = error")
            owner_sql.execute(sql.SQL("DROP VIEW {} CASCADE").format(view))
            owner_sql.execute(path.read_text().encode())
            assert owner_sql.execute(shown).fetchone() == before, path.stem


def test_shipped_rows_are_there(owner_sql: psycopg.Connection) -> None:
    """The moves of each state machine, and the constants."""
    moves: dict[str, dict[str, set[str]]] = {}
    for machine, before, after in owner_sql.execute(
        "SELECT machine, from_state, to_state FROM allowed_transitions WHERE machine NOT LIKE '%.%'"
    ):
        moves.setdefault(machine, {}).setdefault(before, set()).add(after)
    assert moves == {
        machine: {before: set(afters) for before, afters in table.items()}
        for machine, table in shipped.TRANSITIONS.items()
    }
    policies = owner_sql.execute("SELECT name, value, unit, source, note FROM policies").fetchall()
    assert sorted(policies) == sorted(shipped.POLICIES)


def test_every_state_of_a_machine_is_one_its_table_knows(owner_sql: psycopg.Connection) -> None:
    """A move to a state the CHECK refuses could never be made."""
    for machine, table in shipped.TRANSITIONS.items():
        column = "status" if machine in ("idem", "batch_runs") else "state"
        checks = owner_sql.execute(
            "SELECT string_agg(pg_get_constraintdef(oid), ' ') FROM pg_constraint"
            " WHERE conrelid = %s::regclass AND contype = 'c'",
            [machine],
        ).fetchone()
        assert checks
        for state in {*table, *(after for afters in table.values() for after in afters)}:
            assert f"'{state}'::text" in checks[0], (machine, column, state)


def test_the_audit_and_the_archive_have_their_partitions(owner_sql: psycopg.Connection) -> None:
    """Sixteen by hash; by month, with one for what no month takes."""

    def parts(table: str) -> list[Any]:
        return [
            (name, bound)
            for name, bound in owner_sql.execute(
                "SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits"
                " JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = %s::regclass ORDER BY 1",
                [table],
            )
        ]

    hashed = parts("idem_archive")
    assert sorted(bound for _, bound in hashed) == sorted(
        f"FOR VALUES WITH (modulus 16, remainder {n})" for n in range(16)
    )
    months = dict(parts("audit_events"))
    assert months["audit_events_other"] == "DEFAULT"
    owner_sql.execute("SELECT ledger.extend_partitions()")
    ahead = owner_sql.execute(
        "SELECT 'audit_events_' || to_char(m, 'YYYY_MM') FROM generate_series(date_trunc('month',"
        " clock_timestamp() AT TIME ZONE 'UTC'), clock_timestamp() AT TIME ZONE 'UTC' + interval"
        " '3 months', interval '1 month') m"
    ).fetchall()
    assert len(ahead) >= 3
    assert {name for (name,) in ahead} <= dict(parts("audit_events")).keys()
