"""A user's own tables with a business rule between them: customers, and orders that need seats.

The rule SEATS: a customer's seats may not fall below the number of its open orders. Made and
registered as a user does it, by commands.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from django.core.management import call_command

from ledger.operations.registrations import apply_deploy
from tests.support.factories import Shop

TABLES = """
DROP SCHEMA IF EXISTS crm CASCADE;
CREATE SCHEMA crm;
CREATE TABLE crm.customers (
    id integer PRIMARY KEY, plan text, seats integer CHECK (seats < 1000), note text
);
CREATE TABLE crm.orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES crm.customers, open boolean NOT NULL DEFAULT true
);
CREATE INDEX ON crm.orders (customer_id);
INSERT INTO crm.customers VALUES (7, 'basic', 5, NULL);
"""
SEATS = """-- rule: seats_cover_orders
-- target: customers
-- fields: seats
-- lock
SELECT FROM crm.customers c WHERE c.id = ($1 ->> 'id')::integer FOR UPDATE;
SELECT FROM crm.orders o WHERE o.customer_id = ($1 ->> 'id')::integer ORDER BY o.id FOR SHARE;
-- check
SELECT coalesce(count(*) <= ($2 ->> 'seats')::integer, true), jsonb_build_object('orders', count(*))
FROM crm.orders o WHERE o.customer_id = ($1 ->> 'id')::integer AND o.open
"""


@contextmanager
def tables(owner: psycopg.Connection, workflow: str) -> Iterator[psycopg.Connection]:
    """Make the tables and the target for as long as the block; the workflow may write it all."""
    owner.execute(TABLES)
    _drop_rules(owner)  # tests that make such a function by hand leave it
    try:
        call_command("register_target", "crm.customers", stdout=StringIO())
        deploy(workflow)
        yield owner
    finally:
        owner.execute("DROP SCHEMA crm CASCADE")
        _drop_rules(owner)


def _drop_rules(owner: psycopg.Connection) -> None:
    for (function,) in owner.execute(
        "SELECT oid::regprocedure::text FROM pg_proc"
        " WHERE pronamespace = 'ledger_rules'::regnamespace"
    ).fetchall():
        owner.execute(f"DROP FUNCTION {function}")


def deploy(workflow: str) -> None:
    """Let a workflow write every field of the customers."""
    names = ("plan", "seats", "note")
    deployed = apply_deploy(
        actor="test",
        workflow=workflow,
        workflow_version="1",
        reason="test",
        fields=[{"target": "customers", "field": name, "exclusive": False} for name in names],
    )
    assert deployed.outcome == "won", deployed


def rule(check: str, *, lock: str = "", name: str = "rule", fields: str = "") -> str:
    """Write a rule of the customers as its file would be."""
    return (
        f"-- rule: {name}\n-- target: customers\n-- fields: {fields}\n"
        f"-- lock\n{lock}\n-- check\n{check}\n"
    )


def register(*sources: str, **options: Any) -> str:
    """Register rules from files and return what the command says."""
    said = StringIO()
    with TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.sql") for number, _ in enumerate(sources)]
        for file, source in zip(files, sources, strict=True):
            file.write_text(source)
        call_command("register_rule", *map(str, files), stdout=said, **options)
    return said.getvalue()


def order(owner: psycopg.Connection, customer: int = 7, count: int = 1) -> None:
    """Let a customer order."""
    owner.execute(
        "INSERT INTO crm.orders (customer_id) SELECT %s FROM generate_series(1, %s)",
        [customer, count],
    )


def customer(owner: psycopg.Connection, number: int = 7) -> dict[str, Any]:
    """Read a customer."""
    row = owner.execute(
        "SELECT to_jsonb(c) FROM crm.customers c WHERE id = %s", [number]
    ).fetchone()
    assert row
    return dict(row[0])


def change(event: Any, revision: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the members of a write of customer 7."""
    return {
        "target": "customers",
        "record_key": "7",
        "expected_revision": revision,
        "changes": changes,
        "event": {"id": event},
    }


def write(shop: Shop, event: Any, revision: int = 1, **changes: Any) -> Any:
    """Write fields of customer 7."""
    return shop.call("write_fields", **change(event, revision, **changes))
