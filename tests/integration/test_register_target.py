"""`manage.py register_target` on real tables: what it adds, what it keeps, what it refuses."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError

from ledger.models import AllowedTransition, RecordHistory, Target
from ledger.operations.records import read_record
from tests.support.database import Connect
from tests.support.targets import WORKFLOW, deploy, register, table, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner a table of customers that is no target yet."""
    with table(owner_sql) as owner:
        yield owner


def test_rows_that_were_there_start_at_version_one(owner: psycopg.Connection) -> None:
    """A workflow reads version 1 of an old row, writes version 2, and both are in the history."""
    assert "1 rows got their first version" in register()
    deploy("plan")
    assert read_record(WORKFLOW, target="customers", record_key="7").revision == 1
    assert write(1, "a", plan="pro").revision == 2
    lost = write(1, "b", plan="team")
    assert (lost.outcome, lost.conflict_state) == ("stale_version", "detected")
    plans = RecordHistory.objects.order_by("revision").values_list("row_data__plan", "changed")
    assert list(plans) == [("basic", ["id", "note", "plan", "status"]), ("pro", ["plan"])]


def test_nobody_but_its_owner_writes_the_table_itself(
    owner: psycopg.Connection, connect: Connect
) -> None:
    """Workflows reach their fields through the operation alone, also where they own them."""
    register()
    deploy("plan")
    for role in ("n8n", "articles", "app"):
        for statement in (
            "UPDATE crm.customers SET plan = 'pro'",
            "INSERT INTO crm.customers (id) VALUES (9)",
            "DELETE FROM crm.customers",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect(role).execute(statement)
    assert write(1, "a", plan="team").outcome == "won"


def test_repeating_it_changes_nothing(owner: psycopg.Connection) -> None:
    """Neither the rows' versions nor their history nor the target differ afterwards."""
    register(status_field="status", move=["new:trial"])
    owner.execute("UPDATE crm.customers SET plan = 'pro'")

    def everything() -> tuple[Any, ...]:
        rows = owner.execute("SELECT * FROM crm.customers").fetchall()
        return rows, list(RecordHistory.objects.values()), list(Target.objects.values())

    before = everything()
    assert "every row has its history" in register(status_field="status", move=["new:trial"])
    assert everything() == before


def test_a_revision_column_that_is_there_is_taken_over(owner: psycopg.Connection) -> None:
    """Its numbers go on counting; a row without one gets 1."""
    owner.execute("ALTER TABLE crm.customers ADD COLUMN version integer")
    owner.execute("INSERT INTO crm.customers (id, version) VALUES (8, 41)")
    register(revision="version")
    owner.execute("UPDATE crm.customers SET plan = 'pro', version = version + 1")
    rows = owner.execute("SELECT id, version FROM crm.customers ORDER BY id").fetchall()
    assert rows == [(7, 2), (8, 42)]
    kept = RecordHistory.objects.filter(record_key="8").order_by("revision")
    assert list(kept.values_list("revision", flat=True)) == [41, 42]


def test_the_history_holds_what_the_tables_own_triggers_made(owner: psycopg.Connection) -> None:
    """The ledger's trigger comes after those of the table, whatever they are called."""
    owner.execute(
        "CREATE FUNCTION crm.sign() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN NEW.note := ''signed''; RETURN NEW; END'"
    )
    owner.execute(
        "CREATE TRIGGER sign BEFORE UPDATE ON crm.customers FOR EACH ROW"
        " EXECUTE FUNCTION crm.sign()"
    )
    register()
    owner.execute("UPDATE crm.customers SET plan = 'pro'")
    assert RecordHistory.objects.get(revision=2).row_data["note"] == "signed"


def test_moves_guard_the_status(owner: psycopg.Connection) -> None:
    """A move that is not listed goes to a person; a listed one is written."""
    register(status_field="status", move=["new:trial", "trial:active"])
    deploy("status")
    assert AllowedTransition.objects.filter(machine="customers.status").count() == 2
    assert write(1, "a", status="active").outcome == "bad_transition"
    assert write(1, "b", status="trial").outcome == "won"


def test_a_word_of_sql_may_be_a_table(owner: psycopg.Connection) -> None:
    """The name is quoted wherever it is used."""
    owner.execute('CREATE TABLE crm."order" (id integer PRIMARY KEY, plan text)')
    owner.execute("""INSERT INTO crm."order" VALUES (7, 'basic')""")
    register("crm.order", name="orders")
    deploy("plan", target="orders")
    assert write(1, "a", target="orders", plan="pro").outcome == "won"


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("crm.a-b", {}, "not a safe name"),
        ('crm.customers"; DROP TABLE idem; --', {}, "not a safe name"),
        ("crm." + "a" * 64, {}, "at most 63"),
        ("crm.customers", {"name": "crm/customers"}, "--name 'crm/customers' is not a safe name"),
        ("crm.customers", {"name": "Customers"}, "lower-case"),
        ("crm.nowhere", {}, "There is no table crm.nowhere"),
        ("jobs", {}, "jobs is a table of this program"),
        ("auth_user", {}, "auth_user is a table of this program"),
        ("pg_catalog.pg_class", {}, "not for tables of yours"),
        ("idem_archive_0", {}, "not a whole table"),
        ("review_queue", {}, "review_queue is a table of this program"),
        ("crm.customers", {"pk": "number"}, "--pk: crm.customers has no column number; it has id"),
        ("crm.customers", {"pk": "plan"}, "plan is not a key"),
        ("crm.customers", {"pk": "id,plan"}, "a record is named by one column"),
        ("crm.seats", {"pk": "row_no"}, "The key of crm.seats is (row_no, seat)"),
        ("crm.seats", {"pk": "seat", "revision": "twice"}, "twice is bigint, computed by the"),
        ("crm.counted", {}, "is numbered already, by its trigger own"),
        ("crm.taken", {}, "has a trigger zz_ledger_history of its own"),
        ("crm.late", {}, "The trigger zz_z of crm.late would change a row after"),
        ("crm.customers", {"client": ["'; DROP"]}, "is not a safe id"),
        ("crm.customers", {"client": ["e\u0301"]}, "is not a safe id"),
        ("crm.customers", {"client": [" a"]}, "is not a safe id"),
        ("crm.customers", {"client": ["a"], "pk": "plan"}, "plan is not a key"),
        ("ledger_rules.customers", {}, "not for tables of yours"),
        ("crm.customers", {"revision": "note"}, "note is text, not a whole number"),
        ("crm.customers", {"status_field": "state"}, "--status-field: crm.customers has no column"),
        ("crm.customers", {"status_field": "status", "move": ["new"]}, "--move takes FROM:TO"),
        ("crm.customers", {"move": ["new:trial"]}, "--move needs --status-field"),
    ],
)
def test_what_it_refuses_leaves_the_table_alone(
    owner: psycopg.Connection, table: str, options: dict[str, Any], said: str
) -> None:
    """Every refusal says what is wrong, before anything was changed."""
    owner.execute(
        "CREATE TABLE crm.seats (row_no integer, seat integer NOT NULL UNIQUE,"
        " twice bigint GENERATED ALWAYS AS (seat * 2) STORED, PRIMARY KEY (row_no, seat));"
        "CREATE FUNCTION crm.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
    )
    for name, trigger, function in (
        ("counted", "own", "ledger.bump_revision('other', 'id', 'revision')"),
        ("taken", "zz_ledger_history", "crm.nothing()"),
        ("late", "zz_z", "crm.nothing()"),
    ):
        owner.execute(
            f"CREATE TABLE crm.{name} (id integer PRIMARY KEY, revision bigint);"
            f"CREATE TRIGGER {trigger} BEFORE UPDATE ON crm.{name}"
            f" FOR EACH ROW EXECUTE FUNCTION {function}"
        )
    with pytest.raises(CommandError, match=re.escape(said)):
        register(table, **options)
    columns = owner.execute("SELECT * FROM crm.customers").description or []
    assert [column.name for column in columns] == ["id", "plan", "status", "note"]
    assert not Target.objects.exists()


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("crm.leads", {"name": "customers"}, "customers is .*crm.*customers.* already"),
        ("crm.customers", {"name": "clients"}, "registered already, as customers"),
        ("crm.customers", {"revision": "rev"}, "--pk id --revision revision"),
    ],
)
def test_a_collision_is_refused(
    owner: psycopg.Connection, table: str, options: dict[str, Any], said: str
) -> None:
    """One name is one table, one table one name, and its columns stay what they are."""
    owner.execute("CREATE TABLE crm.leads (id integer PRIMARY KEY)")
    register()
    with pytest.raises(CommandError, match=said):
        register(table, **options)
    assert list(Target.objects.values_list("name", "revision_column")) == [
        ("customers", "revision")
    ]


def test_a_table_of_somebody_else_is_refused(owner: psycopg.Connection) -> None:
    """Only a table's owner can change it; the message says what would help."""
    owner.execute("CREATE ROLE crm_owner")
    try:
        owner.execute("GRANT crm_owner TO CURRENT_USER")
        owner.execute("GRANT ALL ON SCHEMA crm TO crm_owner")
        owner.execute("ALTER TABLE crm.customers OWNER TO crm_owner")
        owner.execute("REVOKE crm_owner FROM CURRENT_USER")
        with pytest.raises(CommandError, match=r"belongs to crm_owner.*GRANT crm_owner TO"):
            register()
    finally:
        owner.execute("GRANT crm_owner TO CURRENT_USER")
        owner.execute("DROP OWNED BY crm_owner CASCADE")
        owner.execute("DROP ROLE crm_owner")
