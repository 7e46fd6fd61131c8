"""A table of its own for each client: clients never meet, and nothing else is taken for one."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError
from psycopg import sql

from ledger.models import Target
from tests.support.targets import deploy, register, table, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner a table of customers that is no target yet."""
    with table(owner_sql) as owner:
        yield owner


def client_target(owner: psycopg.Connection, client_id: str, table: str = "customers") -> str:
    """Ask for the name of a client's target, as a workflow may."""
    row = owner.execute("SELECT ledger.client_target(%s, %s)", [table, client_id]).fetchone()
    assert row
    return str(row[0])


def run(owner: psycopg.Connection, statement: str, name: str) -> psycopg.Cursor[Any]:
    """Run a statement about the table of this name."""
    return owner.execute(sql.SQL(statement).format(sql.Identifier("crm", name)))


def test_two_clients_never_meet(owner: psycopg.Connection) -> None:
    """The clients a-b and a_b have a table, a target and a history each; the original has none."""
    owner.execute(
        "CREATE TABLE crm.plans (id text PRIMARY KEY); INSERT INTO crm.plans VALUES ('x')"
    )
    owner.execute("ALTER TABLE crm.customers ADD FOREIGN KEY (note) REFERENCES crm.plans NOT VALID")
    said = register(client=["a-b", "a_b"], status_field="status", move=["new:trial"])
    names = [client_target(owner, "a-b"), client_target(owner, "a_b")]
    assert [line.split(":")[0] for line in said.splitlines()] == [
        f"target {names[0]} of client a-b",
        f"target {names[1]} of client a_b",
    ]
    assert Target.objects.filter(client_of="customers").count() == 2
    for name in names:
        run(owner, "INSERT INTO {} (id, plan, status) VALUES (7, 'basic', 'new')", name)
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            run(owner, "INSERT INTO {} (id, note) VALUES (8, 'no such plan')", name)
    deploy("plan", target=names[0])
    assert write(1, "a", target=names[0], plan="pro").outcome == "won"
    plans = [run(owner, "SELECT plan FROM {}", name).fetchall() for name in names]
    assert plans == [[("pro",)], [("basic",)]]
    columns = owner.execute("SELECT * FROM crm.customers").description or []
    assert "revision" not in [column.name for column in columns]


def test_repeating_a_client_keeps_its_rows(owner: psycopg.Connection) -> None:
    """The table is made once, whatever became of it; so is one whose registration was cut off."""
    register(client=["a-b"])
    name = client_target(owner, "a-b")
    run(owner, "INSERT INTO {} (id) VALUES (1); DELETE FROM targets", name)
    assert "every row has its history" in register(client=["a-b"])
    assert run(owner, "SELECT id, revision FROM {}", name).fetchall() == [(1, 1)]
    assert Target.objects.get().client_id == "a-b"


def test_a_table_that_has_the_name_is_refused(owner: psycopg.Connection) -> None:
    """Somebody else's table never becomes a client's, nor does somebody else's target."""
    name = client_target(owner, "a-b")
    owner.execute(f"CREATE TABLE crm.{name} (id integer PRIMARY KEY)")
    with pytest.raises(CommandError, match="was not made for this client"):
        register(client=["a-b"])
    register(f"crm.{name}")
    with pytest.raises(CommandError, match="choose another --name"):
        register(client=["a-b"])


@pytest.mark.parametrize(
    "client_id", ["a", "A", "a-b", "a_b", "a b", "Müller & Söhne", "x" * 200, "x" * 199, "@", "!"]
)
def test_a_clients_name_is_a_safe_name(owner: psycopg.Connection, client_id: str) -> None:
    """Whatever the id, the name is one of at most 63 letters, digits and _, and nobody else's."""
    names = [client_target(owner, client_id, table) for table in ("customers", "c" * 63)]
    for name in names:
        assert re.fullmatch("[a-z0-9_]{1,63}", name)
    others = [client_target(owner, f"{client_id}{more}") for more in ("-", "_", " ")]
    assert len({*names, *others}) == 5


def test_triggers_that_a_copy_lacks_are_named(owner: psycopg.Connection) -> None:
    """LIKE copies no trigger; the person hears of it."""
    owner.execute(
        "CREATE FUNCTION crm.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
        "CREATE TRIGGER sign BEFORE UPDATE ON crm.customers FOR EACH ROW"
        " EXECUTE FUNCTION crm.nothing()"
    )
    assert "triggers it lacks, make them yourself: sign" in register(client=["a"])
    owner.execute("ALTER TABLE crm.customers ADD up integer REFERENCES crm.customers")
    with pytest.raises(CommandError, match="names the table itself"):
        register(client=["b"])
    assert owner.execute(
        "SELECT to_regclass(%s)", [f"crm.{client_target(owner, 'b')}"]
    ).fetchone() == (None,)
