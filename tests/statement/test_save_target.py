"""save_target: register a versioned table, or a store outside this database."""

from itertools import pairwise
from typing import Any

import psycopg
import pytest

from tests.support.factories import insert
from tests.support.races import inner_doors, race, race_rounds
from tests.support.records import TABLE, Office

WHO = {"actor": "root", "reason": "new"}


@pytest.fixture
def office(inner_office: Office) -> Office:
    """Give the customers, not registered."""
    for table in ("targets", "field_ownership"):
        inner_office.owner.execute(f"DELETE FROM {table}")  # noqa: S608 - a known name
    return inner_office


def save(office: Office, **more: Any) -> Any:
    """Save the customers as a target."""
    return office.call(
        "save_target", **{**WHO, "name": "customers", "table": f"public.{TABLE}", **more}
    )


def test_a_table_with_its_triggers_becomes_a_target(office: Office) -> None:
    """Its columns have defaults; saving it again changes nothing."""
    assert save(office).outcome == "won"
    (row,) = office.rows("targets")
    assert (row["pk_column"], row["revision_column"], row["status_column"], row["external"]) == (
        "id",
        "revision",
        None,
        False,
    )
    assert save(office).outcome == "replay"
    assert save(office, status_column="status").outcome == "won"
    assert office.rows("targets")[0]["status_column"] == "status"
    audit = office.audited("save_target")
    assert (audit["key"], audit["row_count"]) == ("targets:customers", 1)


def test_a_store_outside_needs_no_table(office: Office) -> None:
    """Its fields can be owned and be sensitive."""
    saved = office.call("save_target", **WHO, name="airtable", external=True)
    assert (saved.outcome, saved.version) == ("won", None)


@pytest.mark.parametrize(
    "table",
    [
        "public.nowhere",
        "nowhere",
        TABLE,
        f"public.{TABLE}; --",
        f"x.public.{TABLE}",
        "a.b.c.d",
        '"',
        "'",
        "public.review_queue",
        "pg_catalog.pg_authid",
        f"public.{TABLE}_pkey",
    ],
)
def test_what_is_no_table_is_refused(office: Office, table: str) -> None:
    """Whatever its name would do to a statement."""
    refused = save(office, table=table)
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "table")
    assert office.rows("targets") == []


LEDGER = [
    ("public.policies", "name", "version"),
    ("public.jobs", "id", "version"),
    ("public.conflicts", "id", "lock_version"),
    ("public.audit_events", "id", "tx"),
    ("public.providers", "name", "version"),
    ("public.auth_user", "username", "id"),
]


def test_a_table_of_the_program_is_never_a_target(office: Office) -> None:
    """Or a workflow could write it: it lacks what only the owner of a table can hang on it."""
    for table, key, revision in LEDGER:
        refused = save(office, name="t", table=table, pk_column=key, revision_column=revision)
        assert refused.outcome == "rule_failed", table
        assert refused.detail["hint"], table
    assert office.rows("targets") == []


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"pk_column": "plan"}, "UNIQUE"),
        ({"pk_column": "nothing"}, "UNIQUE"),
        ({"pk_column": "email"}, "UNIQUE"),
        ({"revision_column": "plan"}, "bigint"),
        ({"revision_column": "nothing"}, "bigint"),
        ({"status_column": "nothing"}, "status"),
        ({"name": "clients"}, "triggers"),
        ({"revision_column": "seats"}, "triggers"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    office: Office, columns: dict[str, Any], says: str
) -> None:
    """A key names one row, a revision is a number, and the triggers are those of this target."""
    refused = save(office, **columns)
    assert (refused.outcome, says in refused.detail["hint"]) == ("rule_failed", True), refused
    assert office.rows("targets") == []


@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER zz_before ON {}",
        "DROP TRIGGER zz_after ON {}",
        "ALTER TABLE {} DISABLE TRIGGER zz_after",
        "ALTER TABLE {} ENABLE REPLICA TRIGGER zz_before",
        "ALTER TABLE {} DROP CONSTRAINT {}_pkey",
    ],
)
def test_half_a_target_is_refused(office: Office, change: str) -> None:
    """A version that nobody numbers or keeps guards nothing."""
    office.alter(change.replace("{}", TABLE))
    assert save(office).outcome == "rule_failed"


def test_a_target_cannot_be_moved_to_another_table(office: Office) -> None:
    """The triggers say which target a table is."""
    assert save(office).outcome == "won"
    office.owner.execute("CREATE TABLE leads (id text PRIMARY KEY, revision bigint NOT NULL)")
    try:
        assert save(office, table="public.leads").outcome == "rule_failed"
        assert save(office, pk_column="email").outcome == "rule_failed"
    finally:
        office.owner.execute("DROP TABLE leads")
    assert office.rows("targets")[0]["table"] == f"public.{TABLE}"


def test_the_runtime_role_cannot_make_the_triggers(
    office: Office, app_sql: psycopg.Connection
) -> None:
    """It owns no table, may make none, and may not execute their function."""
    trigger = (
        f"CREATE TRIGGER x BEFORE UPDATE ON {TABLE} FOR EACH ROW"
        " EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'revision')"
    )
    for statement in (
        trigger,
        "CREATE TABLE mine (id text PRIMARY KEY)",
        "CREATE TEMP TABLE mine (id text PRIMARY KEY)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app_sql.execute(statement)


def test_an_ill_typed_member_is_named(office: Office) -> None:
    """Nothing is stored."""
    for wrong in ({"name": ""}, {"table": 5}, {"external": "no"}, {"reason": None}):
        refused = save(office, **wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    insert(office.owner, "targets", name="old", external=True)
    assert office.call("save_target", **WHO, name="old", table=None).outcome == "replay"


@inner_doors
def test_saved_at_once_it_is_one_target(racing_office: Office) -> None:
    """Of the same the second is a repeat; of two wishes each is whole."""
    office = racing_office
    store = {**WHO, "name": "airtable", "external": True}
    answers = race(*[lambda: office.door.call("save_target", **store)] * 3)
    assert sorted(each.outcome for each in answers) == ["replay", "replay", "won"]
    saved = {**WHO, "name": "customers", "table": f"public.{TABLE}"}
    columns = [("plan", "email"), ("phone", "status")]

    def save_with(mine: int) -> Any:
        return lambda n: (
            office.door.call("save_target", **saved, status_column=columns[n % 2][mine]).outcome
        )

    assert race_rounds(10, save_with(0), save_with(1)) == [["won", "won"]] * 10
    told = office.rows("audit_events", op="save_target", key="targets:customers")
    for earlier, later in pairwise(told):
        assert later["before"] == earlier["after"]
    assert (
        office.rows("targets", name="customers")[0]["status_column"]
        == (told[-1]["after"]["status_column"])
    )
