"""A user's table that is no target yet, and what the tests of registering do with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import psycopg
from django.core.management import call_command

from ledger.operations.base import Caller
from ledger.operations.records import WrittenFields, write_fields
from ledger.operations.registrations import apply_deploy

WORKFLOW = Caller("shop")


@contextmanager
def table(owner: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Make a schema with one table and one row for as long as the block."""
    owner.execute("CREATE SCHEMA crm")
    owner.execute(
        "CREATE TABLE crm.customers (id integer PRIMARY KEY, plan text, status text, note text)"
    )
    owner.execute("INSERT INTO crm.customers VALUES (7, 'basic', 'new', 'here before')")
    try:
        yield owner
    finally:
        owner.execute("DROP SCHEMA crm CASCADE")


def register(table: str = "crm.customers", **options: Any) -> str:
    """Run the command and return what it says."""
    said = StringIO()
    call_command("register_target", table, stdout=said, **options)
    return said.getvalue()


def deploy(*fields: str, target: str = "customers") -> None:
    """Let the workflow write fields of a target."""
    owned = [{"target": target, "field": field} for field in fields]
    deployed = apply_deploy(
        actor="test", workflow="shop", workflow_version="1", fields=owned, reason="test"
    )
    assert deployed.outcome == "won", deployed


def write(revision: int, event: str, *, target: str = "customers", **changes: Any) -> WrittenFields:
    """Write fields of the one record."""
    return write_fields(
        WORKFLOW,
        target=target,
        record_key="7",
        expected_revision=revision,
        changes=changes,
        event={"id": event},
    )
