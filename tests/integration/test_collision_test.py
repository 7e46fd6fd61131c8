"""`manage.py collision_test` and `manage.py ownership`: what is shown at the hand-over."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.models import AuditEvent, Conflict, Idem, RecordHistory
from ledger.operations.registrations import add_key_spec, apply_deploy, mark_field_sensitive
from tests.support import crm

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner customers that the workflow `shop` may write."""
    with crm.tables(owner_sql, "shop") as owner:
        yield owner


def say(command: str, *arguments: str, **options: Any) -> str:
    """Run a command and return what it says."""
    said = StringIO()
    call_command(command, *arguments, stdout=said, **options)
    return said.getvalue()


def deploy(workflow: str, *fields: str, target: str = "customers", **more: Any) -> None:
    """Let a workflow write some fields, shared with others."""
    deployed = apply_deploy(
        actor="test",
        workflow=workflow,
        workflow_version="1",
        reason="test",
        fields=[{"target": target, "field": field, "exclusive": False} for field in fields],
        **more,
    )
    assert deployed.outcome == "won", deployed


# -- the collision -------------------------------------------------------------------------------


def test_one_lands_and_the_other_is_kept(owner: psycopg.Connection) -> None:
    """Two workflows on a record made for it: the table is as it was, the evidence stays."""
    deploy("billing", "plan", key_fields=["customer.mail", "customer.phone"])
    spec = add_key_spec(
        actor="test",
        effect="write:customers:billing",
        fields=["customer.mail", "customer.phone"],
        canon=["email", "phone"],
        reason="test",
    )
    assert spec.outcome == "won"
    before = crm.customer(owner)
    said = say("collision_test", "customers")
    assert "PASS" in said
    assert said.count(": won, revision 2") == 1
    assert said.count("stale_version") == 1
    assert "again, from a fresh read: won, revision 3" in said
    assert owner.execute("SELECT id FROM crm.customers").fetchall() == [(7,)]
    assert crm.customer(owner) == before
    assert list(Conflict.objects.values_list("state", flat=True)) == ["auto_resolved"]
    writers = RecordHistory.objects.filter(record_key="8").order_by("revision")
    assert set(writers.values_list("by_workflow", flat=True)[1:]) == {"billing", "shop"}
    assert Idem.objects.filter(status="done").count() == 2
    outcomes = AuditEvent.objects.filter(op="write_fields").order_by("id")
    assert sorted(outcomes.values_list("outcome", flat=True)) == ["stale_version", "won", "won"]


def test_a_given_record_keeps_its_values(owner: psycopg.Connection) -> None:
    """One workflow against itself will do; only the revision moves."""
    before = crm.customer(owner)
    assert "PASS" in say("collision_test", "customers", record="7")
    assert crm.customer(owner) == before | {"revision": before["revision"] + 2}


def test_a_table_that_does_not_count_fails(owner: psycopg.Connection) -> None:
    """Without its trigger both updates land, and the test says so."""
    owner.execute("ALTER TABLE crm.customers DISABLE TRIGGER USER")
    with pytest.raises(CommandError, match="FAIL"):
        say("collision_test", "customers", record="7")


@pytest.mark.parametrize(
    "columns",
    [
        "id uuid PRIMARY KEY, v text",
        "id uuid PRIMARY KEY DEFAULT gen_random_uuid(), v text",
        "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text NOT NULL",
        "id text PRIMARY KEY, v jsonb NOT NULL, w date NOT NULL, x integer[] NOT NULL",
        "id text PRIMARY KEY, v boolean NOT NULL, w numeric NOT NULL, x interval NOT NULL",
    ],
)
def test_a_record_is_made_in_any_plain_table(owner: psycopg.Connection, columns: str) -> None:
    """Whatever must be filled is filled with what says nothing, and is gone afterwards."""
    owner.execute(f"CREATE TABLE crm.things ({columns})")
    say("register_target", "crm.things")
    deploy("things", "v", target="things")
    assert "PASS" in say("collision_test", "things")
    assert owner.execute("SELECT FROM crm.things").rowcount == 0


def test_what_it_refuses(owner: psycopg.Connection) -> None:
    """A target that is none, no record, no way to make one, no field to try."""
    with pytest.raises(CommandError, match="No target nothing; there are: customers"):
        say("collision_test", "nothing")
    with pytest.raises(CommandError, match="customers/99 could not be read: lost_record"):
        say("collision_test", "customers", record="99")
    owner.execute("ALTER TABLE crm.customers ADD CHECK (plan IS NOT NULL)")
    with pytest.raises(CommandError, match="No scratch record can be made"):
        say("collision_test", "customers")
    for field in ("plan", "seats", "note"):
        mark_field_sensitive(
            actor="test", target="customers", field=field, sensitive=True, reason="test"
        )
    with pytest.raises(CommandError, match="No workflow owns a field of customers"):
        say("collision_test", "customers", record="7")


# -- the list ------------------------------------------------------------------------------------


def test_the_list_says_who_may_touch_what(owner: psycopg.Connection) -> None:
    """Every column of the table, its owners, what is special, and who gets past the ledger."""
    crm.register(crm.SEATS)
    owner.execute("ALTER TABLE crm.customers ADD colour text")
    deploy("billing", "plan", "colour")
    owner.execute("ALTER TABLE crm.customers DROP colour")
    mark_field_sensitive(
        actor="test", target="customers", field="plan", sensitive=True, reason="test"
    )
    owner.execute("GRANT UPDATE (note) ON crm.customers TO ledger_n8n")
    owner.execute("GRANT SELECT ON crm.customers TO ledger_articles")
    assert say("ownership", markdown=True) == (
        "# Who may touch which field\n\n"
        "## customers (crm.customers)\n\n"
        "| field | who may write it | remarks |\n| --- | --- | --- |\n"
        "| id | nobody | names the record |\n"
        "| plan | billing, shop | sensitive: a collision always goes to a person |\n"
        "| seats | shop | rule seats_cover_orders |\n"
        "| note | shop |  |\n"
        "| revision | the database alone | counts the versions |\n"
        "| colour | billing | the table has no such column |\n\n"
        "- rule seats_cover_orders reads crm.orders\n"
        "- logins that may write the table past the ledger: ledger_n8n\n"
    )
    assert re.search(r"  seats +shop +rule seats_cover_orders\n", say("ownership", "customers"))
    with pytest.raises(CommandError, match="No such target"):
        say("ownership", "nothing")
