"""Records for tests: customers that two workflows write, and people decide about.

Registrations are inserted as the owner, their operations have tests of their own.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from tests.support.doors import Door
from tests.support.factories import OTHER, SHOP, Shop, insert
from tests.support.races import PATIENCE

TARGET = "customers"
OWNED = {
    SHOP: ("phone", "plan", "seats", "tags", "born", "email"),
    OTHER: ("plan", "status", "credit"),
}
"""Both own the plan; the credit is sensitive."""
MOVES = (("new", "trial"), ("trial", "active"), ("active", "closed"))
ANNA, BERT = "anna", "bert"
ORDER = {
    "jobs": "created_at",
    "idem": "claimed_at",
    "record_history": "at",
    "key_specs": "version",
    "baselines": "workflow_version",
    "batch_curves": "measured_at",
    "providers": "name",
    "effects": "name",
    "targets": "name",
    "workflows": "name",
    "policies": "name",
    "field_ownership": "field",
}
"""By what the rows of a table without a number are told apart."""

TABLE = "office_customers"
_COLUMNS = """
    id text PRIMARY KEY, phone text, plan text, status text, email text UNIQUE, born date,
    credit numeric(10, 2), seats integer CHECK (seats >= 0), tags jsonb, revision bigint NOT NULL
"""
_TRIGGER = (
    "CREATE TRIGGER zz_{0} {0} INSERT OR UPDATE ON {1} FOR EACH ROW"
    " EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'revision')"
)


def make_customers(owner: psycopg.Connection) -> None:
    """Make the table unless it is there, with one customer at revision 1."""
    if owner.execute("SELECT to_regclass(%s)", [f"public.{TABLE}"]).fetchone() == (None,):
        owner.execute(f"CREATE TABLE public.{TABLE} ({_COLUMNS})")
        for when in ("before", "after"):
            owner.execute(_TRIGGER.format(when, f"public.{TABLE}"))
    insert(
        owner,
        TABLE,
        id="7",
        phone="+49 30 1",
        plan="basic",
        status="new",
        credit=10,
        seats=3,
        revision=0,
    )


def own(owner: psycopg.Connection, workflow: str, *fields: str, **columns: Any) -> None:
    """Let a workflow write fields of the customers."""
    for field in fields:
        row = {"target": TARGET, "workflow": workflow, "exclusive": False, **columns}
        insert(owner, "field_ownership", field=field, **row)


def make_write_effect(owner: psycopg.Connection, workflow: str) -> None:
    """Register the effect that a deploy makes for a workflow's writes."""
    name = f"write:{TARGET}:{workflow}"
    insert(owner, "effects", name=name, workflow=workflow, provider="(database)", kind="replace")
    insert(
        owner, "key_specs", effect=name, version=1, mode="event_id", fields=["id"], canon=["raw"]
    )


class Office(Shop):
    """The shop with customers, written by it and by the workflow next door."""

    def __init__(self, door: Door, owner: psycopg.Connection) -> None:
        """Register everything."""
        super().__init__(door, owner)
        make_customers(owner)
        self.altered = False
        insert(owner, "targets", name=TARGET, table=f"public.{TABLE}", status_column="status")
        for workflow, fields in OWNED.items():
            own(owner, workflow, *(field for field in fields if field != "credit"))
            make_write_effect(owner, workflow)
        own(owner, OTHER, "credit", sensitive=True)
        for before, after in MOVES:
            machine = f"{TARGET}.status"
            insert(owner, "allowed_transitions", machine=machine, from_state=before, to_state=after)

    def given(self, event: Any, changes: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return the members of a write of the one customer."""
        return {
            "workflow": SHOP,
            "target": TARGET,
            "record_key": "7",
            "expected_revision": 1,
            "event": {"id": event},
            "changes": changes,
            **more,
        }

    def write(self, event: Any, changes: dict[str, Any], **more: Any) -> Any:
        """Write the one customer, whatever the answer; see that it left one audit row."""
        return self.call("write_fields", **self.given(event, changes, **more))

    def rows(self, table: str, **where: Any) -> list[dict[str, Any]]:
        """Return the rows of a table whose columns have these values, in the order they came."""
        return sorted(super().rows(table, **where), key=lambda row: row[ORDER.get(table, "id")])

    def alter(self, statement: str) -> None:
        """Change the table itself, named in braces; it is made anew for the next test."""
        self.altered = True
        self.owner.execute(statement.format(TABLE))

    def change(self, **changes: Any) -> int:
        """Change the customer beside the ledger; return the revision after it."""
        names = ", ".join(f"{name} = %s" for name in changes)
        row = self.owner.execute(
            f"UPDATE {TABLE} SET {names} WHERE id = '7' RETURNING revision",  # noqa: S608 - ours
            list(changes.values()),
        ).fetchone()
        assert row
        return int(row[0])

    def customer(self) -> dict[str, Any]:
        """Return the one customer."""
        return self.row(TABLE, "7")

    def conflict(self, conflict_id: int) -> dict[str, Any]:
        """Return the row of a conflict."""
        return self.row("conflicts", str(conflict_id))

    def audited(self, operation: str) -> dict[str, Any]:
        """Return the newest audit row of an operation."""
        return self.rows("audit_events", op=operation)[-1]

    def seal(self) -> Any:
        """Seal the audit as soon as every transaction before it ended."""
        self.wait_for_older_transactions()
        return self.door.call("seal_audit", actor="tick")

    def wait_for_older_transactions(self) -> None:
        """Wait until nothing in this database is older than what the audit holds."""
        deadline = time.monotonic() + PATIENCE
        passed = "SELECT coalesce(max(tx), 0) < ledger.open_since() FROM audit_events"
        while self.owner.execute(passed).fetchone() != (True,):
            assert time.monotonic() < deadline, "an older transaction never ended"

    def set_policy(self, name: str, value: Any) -> None:
        """Set a policy as the owner."""
        self.owner.execute(
            "UPDATE policies SET value = to_jsonb(%s) WHERE name = %s", [value, name]
        )

    def decision(self, conflict_id: int, decision: str, **more: Any) -> dict[str, Any]:
        """Return the members of a decision at the version the conflict has now."""
        return {
            "actor": ANNA,
            "conflict_id": conflict_id,
            "lock_version": self.conflict(conflict_id)["lock_version"],
            "decision": decision,
            "reason": "looked at it",
            **more,
        }

    def decide(self, conflict_id: int, decision: str, **more: Any) -> Any:
        """Decide a conflict, whatever the answer; see that it left one audit row."""
        return self.call("decide_conflict", **self.decision(conflict_id, decision, **more))

    def second(self, operation: str, conflict_id: int, **more: Any) -> Any:
        """Approve, reject or withdraw a decision at the version the conflict has now."""
        given = {
            "actor": BERT,
            "conflict_id": conflict_id,
            "lock_version": self.conflict(conflict_id)["lock_version"],
            "reason": "saw it too",
        }
        return self.call(operation, **(given | more))


@contextmanager
def open_office(door: Door, owner: psycopg.Connection) -> Iterator[Office]:
    """Give the shop with its customers; their table is gone afterwards."""
    office = Office(door, owner)
    yield office
    owner.execute(f"DROP TABLE {TABLE} CASCADE" if office.altered else f"DELETE FROM {TABLE}")  # noqa: S608
