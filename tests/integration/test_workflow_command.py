"""`manage.py workflow`, `effect` and `sql`: what the README registers, in its order."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.models import AuditEvent, Workflow
from ledger.operations.base import Caller
from ledger.operations.jobs import claim_job
from ledger.operations.registrations import apply_deploy
from tests.support.targets import register as register_target
from tests.support.targets import table, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner a registered table of customers."""
    with table(owner_sql) as owner:
        register_target()
        yield owner


def run(*words: str, command: str = "workflow") -> str:
    """Run the command as a person types it."""
    said = StringIO()
    call_command(command, *words, stdout=said, stderr=said)
    return said.getvalue().strip()


def register(*words: str, version: str = "1") -> str:
    """Register the workflow of the tests."""
    return run("register", "shop", "--version", version, "--reason", "test", *words)


def test_a_registered_workflow_gets_its_token_and_writes(owner: psycopg.Connection) -> None:
    """What the README promises, in its order."""
    with pytest.raises(CommandError, match="no workflow of this name is registered"):
        call_command("api_key", "create", "shop")
    said = register("--owns", "customers.plan", "--owns", "customers.note")
    assert said == "workflow shop, version 1: may write customers.note, customers.plan"
    call_command("api_key", "create", "shop", stdout=StringIO(), stderr=StringIO())
    assert write(1, "a", plan="pro").outcome == "won"
    assert run("list") == said.removeprefix("workflow ")
    row = AuditEvent.objects.get(op="apply_deploy")
    assert (row.reason, row.actor.partition(":")[0]) == ("test", "command")


def test_again_it_changes_nothing_and_a_field_left_out_is_taken_away(
    owner: psycopg.Connection,
) -> None:
    """The registration is the whole list."""
    register("--owns", "customers.plan")
    assert register("--owns", "customers.plan").endswith("(as it was already)")
    assert register(version="2") == "workflow shop, version 2: may write no fields of any target"
    assert write(1, "a", plan="pro").outcome == "not_owner_of_field"


def test_what_is_not_said_stays(owner: psycopg.Connection) -> None:
    """Another way of registering may have set it."""
    kept: dict[str, Any] = {"max_runtime_seconds": 90, "decision_webhook": "https://example.com/d"}
    apply_deploy(
        actor="test", workflow="shop", workflow_version="1", fields=[], reason="test", **kept
    )
    register("--editor-url", "https://n8n.example.com/workflow/1", version="2")
    row = Workflow.objects.values(*kept, "editor_url", "active_version").get(name="shop")
    said = {"editor_url": "https://n8n.example.com/workflow/1", "active_version": "2"}
    assert row == {**kept, **said}


def test_two_may_share_what_neither_has_alone(owner: psycopg.Connection) -> None:
    """The refusal says how."""
    register("--owns", "customers.plan")
    other = ("register", "billing", "--version", "1", "--reason", "test")
    with pytest.raises(CommandError, match="another workflow owns this field"):
        run(*other, "--owns", "customers.plan")
    register("--shares", "customers.plan")
    assert "customers.plan (shared)" in run(*other, "--shares", "customers.plan")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("orders.plan", "orders: no target of this name"),
        ("customers.colour", "colour: the target has no such field"),
        ("customers.revision", "revision: the target has no such field"),
        ("plan", "'plan' is no TARGET.FIELD, such as customers.phone"),
        ("customers.", "is no TARGET.FIELD"),
    ],
)
def test_what_cannot_be_registered_is_said(owner: psycopg.Connection, word: str, says: str) -> None:
    """Nothing is registered, and the sentence names what was wrong."""
    with pytest.raises(CommandError, match=says):
        register("--owns", word)
    assert run("list").startswith("No workflow is registered")


def test_an_effect_gets_its_key_with_its_row(owner: psycopg.Connection) -> None:
    """So that it can be claimed at once; what is missing is named with its command."""
    asked = ("register", "mail", "--workflow", "shop", "--provider", "hook", "--reason", "test")
    with pytest.raises(CommandError, match="No workflow shop is registered"):
        run(*asked, command="effect")
    register()
    with pytest.raises(CommandError, match="No provider hook is registered"):
        run(*asked, command="effect")
    url = "url=https://example.com/hook"
    run("add", "hook", "--profile", "webhook", "--set", url, command="provider")
    said = run(*asked, command="effect")
    assert said == "effect mail: of shop, sent to hook (workflow_queue), keyed by id"
    event = {"id": "e1", "order": {"id": 7}}
    claimed = claim_job(Caller("shop"), effect="mail", payload={}, event=event)
    assert (claimed.outcome, claimed.idem_key) == ("won", "mail:e1")
    assert run(*asked, command="effect").endswith("(as it was already)")
    again = run(*asked, "--key-field", "order.id", "--title", "order mail", command="effect")
    assert again.endswith("keyed by order.id")
    assert run(*asked, command="effect").endswith("keyed by order.id (as it was already)")
    assert run("list", command="effect") == again.removeprefix("effect ")


def test_sql_runs_as_the_owner_and_keeps_nothing_of_what_failed(owner: psycopg.Connection) -> None:
    """The private server's owner has no other door."""
    made = run("CREATE TABLE crm.orders (id int); SELECT 1, NULL, 'a'", command="sql")
    assert made == "1\t\ta\nSELECT 1"
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("DROP TABLE crm.orders; SELECT 1 FROM no_table", command="sql")
    assert run("SELECT count(*) FROM crm.orders", command="sql") == "0\nSELECT 1"
