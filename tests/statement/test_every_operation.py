"""What holds for every operation that writes, whatever it does.

The cases are those of tests/support/lost/: each brings its operation to the point where it writes.
"""

from collections.abc import Iterator
from typing import Any

import orjson
import psycopg
import pytest
from django.conf import settings
from django.db import transaction
from psycopg import sql

from ledger.catalog import OPERATIONS
from ledger.errors import GuardBypassedError
from tests.support.arguments import needed
from tests.support.database import Connect
from tests.support.doors import Door, PythonDoor
from tests.support.factories import OTHER, SHOP, Shop, order
from tests.support.lost import CASES, World
from tests.support.tables import Tables

FIRST = {each.operation: each for each in reversed(CASES)}
"""One case of each operation."""
UNTOLD = {"heartbeat_job", "seal_audit"}
"""Operations whose success leaves no audit row."""


def call(session: psycopg.Connection, operation: str, argument: dict[str, Any]) -> set[str]:
    """Run an operation on a session and return its outcomes."""
    statement = sql.SQL("SELECT outcome FROM ledger.{}(%s::jsonb)").format(
        sql.Identifier(operation)
    )
    rows = session.execute(statement, [orjson.dumps(argument, default=str).decode()])
    return {outcome for (outcome,) in rows}


def caller(connect: Connect, operation: str) -> psycopg.Connection:
    """Log in as who may call it."""
    return connect("n8n" if OPERATIONS[operation].n8n else "app")


# -- rather no row than one that looks complete ----------------------------------------------------


@pytest.mark.parametrize("operation", sorted(FIRST.keys() - UNTOLD))
def test_without_its_audit_row_nothing_is_written(
    operation: str, world: World, connect: Connect
) -> None:
    """A change that cannot be recorded is an error."""
    argument, tables = FIRST[operation].arrange(world), Tables(world.owner)
    session, before = caller(connect, operation), tables.rows()
    world.sql("ALTER TABLE audit_events ADD CONSTRAINT closed CHECK (key IS NULL) NOT VALID")
    try:
        with pytest.raises(psycopg.errors.CheckViolation, match="closed"):
            call(session, operation, argument)
    finally:
        world.sql("ALTER TABLE audit_events DROP CONSTRAINT closed")
    assert tables.rows() == before


# -- nobody leads it astray ------------------------------------------------------------------------

ASTRAY = """
CREATE SCHEMA astray;
GRANT USAGE ON SCHEMA astray TO PUBLIC;
CREATE FUNCTION astray.lead(jsonb, text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN RAISE EXCEPTION ''led astray''; END';
CREATE OPERATOR astray.->> (LEFTARG = jsonb, RIGHTARG = text, FUNCTION = astray.lead);
CREATE FUNCTION astray.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''led astray''; END';
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA astray TO PUBLIC;
"""


@pytest.fixture
def wrong_path(world: World) -> Iterator[str]:
    """Make a schema whose names shadow what every operation uses."""
    world.sql(ASTRAY)
    yield "astray, pg_catalog"
    world.sql("DROP SCHEMA astray CASCADE")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_search_path_of_a_session_leads_no_operation_astray(
    operation: str, world: World, wrong_path: str, connect: Connect
) -> None:
    """An operation runs with its owner's rights, so it must run its owner's functions only."""
    case = FIRST.get(operation)
    argument = case.arrange(world) if case else reading(operation)
    session = caller(connect, operation)
    session.execute(f"SET search_path = {wrong_path}")
    with pytest.raises(psycopg.errors.RaiseException, match="led astray"):
        session.execute("SELECT '{}'::jsonb ->> 'a'")
    outcomes = call(session, operation, argument)
    assert outcomes == {case.lost} if case else outcomes


def reading(operation: str) -> dict[str, Any]:
    """Return an argument for an operation that only reads."""
    who = {"workflow": SHOP} if OPERATIONS[operation].n8n else {"actor": "ann"}
    return needed(operation) | who


# -- who calls, and how ----------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_only_read_committed(level: str, sql_door: Door, connect: Connect) -> None:
    """With an old snapshot no operation could see who was first, so none begins."""
    for role in ("n8n", "app"):
        session = connect(role)
        session.execute(f"SET default_transaction_isolation = '{level}'")
        for operation in OPERATIONS:
            if OPERATIONS[operation].n8n == (role == "n8n"):
                with pytest.raises(psycopg.Error, match="READ COMMITTED only") as refused:
                    call(session, operation, {})
                assert refused.value.sqlstate == "LG001"


def test_no_operation_runs_inside_a_transaction_of_the_program(sql_shop: Shop) -> None:
    """A rollback there would erase the conflict or the refusal that was already answered."""
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS")
    before = Tables(sql_shop.owner).rows()
    for name, given in (("claim_job", order()), ("claim_next_jobs", {"limit": 1})):
        with transaction.atomic(), pytest.raises(GuardBypassedError, match="autocommit"):
            PythonDoor().call_many(name, workflow=SHOP, **given)
    assert Tables(sql_shop.owner).rows() == before


@pytest.mark.parametrize("argument", [[], "{}", 7, None])
def test_an_argument_that_is_no_object_is_refused_with_what_to_write(
    argument: Any, sql_door: Door, connect: Connect
) -> None:
    """n8n sends a text or a list where an expression is written the wrong way."""
    for operation in OPERATIONS:
        with pytest.raises(psycopg.Error, match="takes one JSON object") as refused:
            call(caller(connect, operation), operation, argument)
        assert refused.value.sqlstate == "LG400"
        assert f"ledger.{operation}($1::jsonb)" in str(refused.value.diag.message_hint)


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if OPERATIONS[name].n8n])
def test_an_argument_that_n8n_split_at_its_commas_leaves_nothing(
    operation: str, sql_shop: Shop, connect: Connect
) -> None:
    """Parameters given as one text with commas arrive in pieces: too many, or one cut short."""
    session, before = connect("n8n"), Tables(sql_shop.owner).rows()
    pieces = ['{"workflow": "shop"', ' "event": {"id": 1}}']
    name = sql.Identifier(operation)
    for statement, given, error in (
        ("SELECT * FROM ledger.{}(%s, %s)", pieces, psycopg.errors.UndefinedFunction),
        (
            "SELECT * FROM ledger.{}(%s::jsonb)",
            pieces[:1],
            psycopg.errors.InvalidTextRepresentation,
        ),
    ):
        with pytest.raises(error):
            session.execute(sql.SQL(statement).format(name), given)
    assert Tables(sql_shop.owner).rows() == before


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if OPERATIONS[name].n8n])
def test_only_a_registered_workflow_calls(operation: str, sql_shop: Shop) -> None:
    """Unknown, switched off, or under a name of the ledger's own: refused, and on record."""
    sql_shop.owner.execute("UPDATE workflows SET enabled = false WHERE name = %s", [OTHER])
    for workflow in ("nobody", OTHER, "(native)", "(sql)"):
        answers = sql_shop.door.call_many(operation, workflow=workflow, **needed(operation))
        assert [answer.outcome for answer in answers] == ["wrong_role"], workflow
        (told,) = sql_shop.audit.new()
        assert (told["op"], told["outcome"], told["workflow"]) == (operation, "wrong_role", None)
    assert sql_shop.door.call_many(operation, **needed(operation))[0].detail["path"] == "workflow"
