"""What people see in tests: a target table two workflows fight over, and people in each role.

Everything is made through operations, as workflows and commands do; only the user's own table is
created by hand, because it is the user's.
"""

from typing import Any

import psycopg
from django.contrib.auth.models import Group, User
from django.test import Client

from ledger.operations.base import Caller
from ledger.operations.records import WrittenFields, write_fields
from ledger.operations.registrations import apply_deploy, save_target
from ledger.operations.sweeps import promote_conflicts

BILLING = Caller("billing-webhook", execution_id="811")
FORM = Caller("form-intake", execution_id="812")
PASSWORD = "a password for tests"

_TABLE = """
DROP TABLE IF EXISTS public.customers;
CREATE TABLE public.customers (
    id text PRIMARY KEY, revision bigint NOT NULL, name text, phone text, plan text,
    notes text, tags jsonb, seats integer CHECK (seats >= 0), status text
);
CREATE TRIGGER customers_revision BEFORE INSERT OR UPDATE ON public.customers
    FOR EACH ROW EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'revision');
CREATE TRIGGER customers_history AFTER INSERT OR UPDATE ON public.customers
    FOR EACH ROW EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'revision');
INSERT INTO public.customers (id, revision, name, phone, plan, notes, tags, seats, status)
VALUES ('1002', 1, 'Dana Weber', '+49 30 1234', 'basic', 'prefers mail', '["vip"]', 3, 'active')
"""


def person(name: str, role: str) -> User:
    """Make somebody who may log in, in one role."""
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    user.groups.set([Group.objects.get(name=role)])
    return user


def client_of(name: str, role: str) -> Client:
    """Make somebody and log them in."""
    client = Client()
    client.force_login(person(name, role))
    return client


def open_shop(owner: psycopg.Connection) -> None:
    """Register the customers table and the two workflows that write it."""
    owner.execute(_TABLE)
    for old, new in (("active", "paused"), ("paused", "active"), ("active", "closed")):
        owner.execute(
            "INSERT INTO allowed_transitions (machine, from_state, to_state)"
            " VALUES ('customers.status', %s, %s) ON CONFLICT DO NOTHING",
            [old, new],
        )
    saved = save_target(
        actor="test",
        name="customers",
        reason="test",
        table="public.customers",
        status_column="status",
    )
    assert saved.outcome == "won", saved
    fields = {
        "billing-webhook": ["plan", "seats", "status"],
        "form-intake": ["phone", "notes", "tags", "plan"],
    }
    for workflow, names in fields.items():
        deployed = apply_deploy(
            actor="test",
            workflow=workflow,
            workflow_version="1",
            reason="test",
            key_fields=["id"],
            fields=[{"target": "customers", "field": name, "exclusive": False} for name in names],
        )
        assert deployed.outcome == "won", deployed


def write(caller: Caller, event: str, revision: int, **changes: Any) -> WrittenFields:
    """Write fields of customers/1002 as a workflow does."""
    return write_fields(
        caller,
        target="customers",
        record_key="1002",
        expected_revision=revision,
        changes=changes,
        event={"id": event},
    )


def collide(event: str = "evt_9f2", **attempted: Any) -> int:
    """Let form-intake lose three times against billing-webhook; return the open conflict."""
    attempted = attempted or {"phone": "+49 30 9876", "plan": "trial"}
    lost = None
    for attempt in range(3):
        revision = 1 + attempt if not lost or not lost.detail else lost.detail["version_found"]
        won = write(BILLING, f"{event}-b{attempt}", revision, plan=f"pro{attempt}")
        assert won.outcome == "won", won
        lost = write(FORM, event, revision, **attempted)
        assert lost.outcome == "stale_version", lost
    assert lost is not None
    assert lost.conflict_state == "open", lost
    assert lost.conflict_id is not None
    return lost.conflict_id


def customer(owner: psycopg.Connection) -> dict[str, Any]:
    """Read the row both fight over."""
    row = owner.execute("SELECT to_jsonb(c) FROM customers c WHERE id = '1002'").fetchone()
    assert row is not None
    return dict(row[0])


def collide_once(owner: psycopg.Connection, **attempted: Any) -> int:
    """Let form-intake lose once and nobody come back; return the promoted conflict."""
    revision = customer(owner)["revision"]
    assert write(BILLING, f"once-{revision}", revision, seats=revision).outcome == "won"
    lost = write(FORM, f"once-{revision}", revision, **attempted)
    assert lost.conflict_state == "detected", lost
    owner.execute(
        "UPDATE conflicts SET created_at = created_at - interval '1 hour' WHERE id = %s",
        [lost.conflict_id],
    )
    promote_conflicts(actor="test")
    assert lost.conflict_id is not None
    return lost.conflict_id
