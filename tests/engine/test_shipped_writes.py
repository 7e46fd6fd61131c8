"""Two workflows and one record, in a real n8n: both changes are kept, or a person merges them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from ledger.models import Conflict
from ledger.operations.decisions import approve_decision, decide_conflict
from ledger.operations.registrations import mark_field_sensitive
from tests.support import targets
from tests.support.engine import Gate
from tests.support.shipped import Shipped, between, items, named, parsed
from tests.support.workflows import Workflow, http

pytestmark = pytest.mark.django_db(transaction=True)

FORM, BILLING = "field-write-http", "field-write-sql"
TABLE = """
CREATE SCHEMA crm;
CREATE TABLE crm.contacts (id integer PRIMARY KEY, phone text, plan text);
INSERT INTO crm.contacts VALUES (7, '+49 30 1234', 'basic')
"""


@pytest.fixture
def contacts(here: Shipped, owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Register a table; let the form write its phone and billing its plan."""
    owner_sql.execute(TABLE)
    try:
        targets.register("crm.contacts", pk="id", name="contacts")
        here.put(FORM)
        here.install(billing(here))
        yield owner_sql
    finally:
        owner_sql.execute("DROP SCHEMA crm CASCADE")


def billing(here: Shipped) -> Workflow:
    """Return the same workflow as a builder makes it write another field."""
    document = here.document(BILLING)
    for name in ("Name the change", "Work out the change"):
        row = next(
            each
            for each in named(document, name)["parameters"]["assignments"]["assignments"]
            if each["name"] == "phone"
        )
        row.update(name="plan", value=row["value"].replace("phone", "plan"))
    for name in ("Write", "Post the lost change"):
        options = named(document, name)["parameters"]["options"]
        options["queryReplacement"] = (
            options["queryReplacement"]
            .replace("{ phone: $json.phone }", "{ plan: $json.plan }")
            .replace("phone", "plan")
        )
    return document


def collide(here: Shipped, gate: Gate) -> tuple[bytes, bytes]:
    """Let billing read, then the form write, then billing write; return what each was answered."""
    document = billing(here)
    between(document, "Is it there?", "Work out the change", http("Hold", f"{gate.url}/hold/work"))
    plan = named(document, "Work out the change")["parameters"]["assignments"]["assignments"]
    next(each for each in plan if each["name"] == "revision")["value"] = (
        "={{ $('Read').item.json.revision }}"
    )
    here.exchange(BILLING, document)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(
            here.deliver, BILLING, {"id": "invoice-1", "contact": "7", "plan": "pro"}
        )
        gate.wait_for("work")
        form = here.deliver(FORM, {"id": "form-1", "contact": "7", "phone": "+49 30 9876"})
        gate.opened.set()
        return form.whole_body(), slow.result().whole_body()


def row(contacts: psycopg.Connection) -> tuple[str, str]:
    """Return what the record holds."""
    found = contacts.execute("SELECT phone, plan FROM crm.contacts").fetchone()
    assert found is not None
    return found[0], found[1]


def test_the_loser_reads_again_and_both_changes_are_kept(
    here: Shipped, contacts: psycopg.Connection, gate: Gate
) -> None:
    """Its loss has a row, which its second attempt closes."""
    collide(here, gate)

    assert row(contacts) == ("+49 30 9876", "pro")
    (lost,) = Conflict.objects.all()
    assert (lost.kind, lost.state) == ("stale_version", "auto_resolved")
    (run,) = here.executions(BILLING)
    read = [item["revision"] for step, item in items(run) if step == "Read"]
    assert [str(each) for each in read] == ["1", "2"]
    waits = named(here.document(BILLING), "Wait a little")["parameters"]["amount"]
    assert "Math.random()" in waits


def test_what_a_person_merges_is_what_the_workflow_hears_next(
    here: Shipped, contacts: psycopg.Connection, gate: Gate
) -> None:
    """A sensitive field is never tried again: two people decide, and a redelivery hears of it."""
    marked = mark_field_sensitive(
        actor="test", reason="a test", target="contacts", field="plan", sensitive=True
    )
    assert marked.outcome == "won"
    collide(here, gate)
    (lost,) = Conflict.objects.all()
    assert (lost.state, row(contacts)) == ("open", ("+49 30 9876", "basic"))

    decided = decide_conflict(
        actor="ann",
        conflict_id=lost.id,
        lock_version=lost.lock_version,
        decision="merge",
        reason="both are right",
        changes={"plan": "pro"},
        revision_seen=2,
    )
    assert decided.outcome == "needs_second_person"
    lost.refresh_from_db()
    approved = approve_decision(
        actor="bob", conflict_id=lost.id, lock_version=lost.lock_version, reason="they are"
    )
    assert approved.outcome == "won", approved
    again = here.deliver(BILLING, {"id": "invoice-1", "contact": "7", "plan": "pro"})

    assert row(contacts) == ("+49 30 9876", "pro")
    assert again.status == 200
    assert parsed(again)["record"]["plan"] == "pro"
