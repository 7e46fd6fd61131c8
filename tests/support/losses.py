"""One real loss of every kind, made the way it happens: by operations that lose."""

from collections.abc import Callable

import psycopg

from ledger.models import Conflict
from ledger.operations.jobs import claim_job, complete_job
from ledger.operations.records import write_fields
from sweeper import sweep
from tests.support import desk
from tests.support.lab import CALLER, Lab


def _only(kind: str) -> int:
    """Return the one open conflict of a kind."""
    return Conflict.objects.get(kind=kind, state="open").id


def _revision(lab: Lab) -> int:
    """Return the revision the customer is at."""
    return int(desk.customer(lab.owner)["revision"])


def stale_version(_lab: Lab) -> int:
    """Lose the same row three times."""
    return desk.collide()


def rule_failed(lab: Lab) -> int:
    """Write what a constraint of the table refuses."""
    assert desk.write(desk.BILLING, "rule", _revision(lab), seats=-1).outcome == "rule_failed"
    return _only("rule_failed")


def not_owner_of_field(lab: Lab) -> int:
    """Write a field of another workflow."""
    assert desk.write(desk.FORM, "owner", _revision(lab), seats=9).outcome == "not_owner_of_field"
    return _only("not_owner_of_field")


def bad_transition(lab: Lab) -> int:
    """Move a status where it may not go."""
    assert (
        desk.write(desk.BILLING, "move", _revision(lab), status="new").outcome == "bad_transition"
    )
    return _only("bad_transition")


def lost_record(_lab: Lab) -> int:
    """Write a row that is not there."""
    lost = write_fields(
        desk.FORM,
        target="customers",
        record_key="gone",
        expected_revision=1,
        changes={"phone": "1"},
        event={"id": "lost"},
    )
    assert lost.outcome == "lost_record", lost
    return _only("lost_record")


def unknown_send(lab: Lab) -> int:
    """Send through a blind webhook and never hear of it again."""
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    sweep.run_once()
    return _only("unknown_send")


def missing_key(_lab: Lab) -> int:
    """Bring an item whose event id got lost."""
    lost = claim_job(CALLER, effect="charge", event={"id": None}, payload={"amount": 5})
    assert lost.outcome == "missing_key", lost
    return _only("missing_key")


def payload_mismatch(lab: Lab) -> int:
    """Bring a finished event again with other content."""
    claim = lab.claim("charge")
    lab.mark(claim)
    assert lab.complete(claim) == "won"
    again = claim_job(CALLER, effect="charge", event={"id": "charge-1"}, payload={"amount": 7})
    assert again.outcome == "payload_mismatch", again
    return _only("payload_mismatch")


def result_mismatch(lab: Lab) -> int:
    """Finish twice with different results."""
    claim = lab.claim("charge", 2)
    lab.mark(claim)
    assert lab.complete(claim) == "won"
    again = complete_job(
        CALLER, job_id=claim.job_id, owner_token=claim.token, result={"other": True}
    )
    assert again.outcome == "result_mismatch", again
    return _only("result_mismatch")


def lost_claim(lab: Lab) -> int:
    """Bring an event again whose job vanished."""
    claim = lab.claim("charge", 3)
    lab.owner.execute("DELETE FROM jobs WHERE id = %s", [claim.job_id])
    event, payload = {"id": "charge-3"}, {"amount": 3, "to": "ada@example.com"}
    again = claim_job(CALLER, effect="charge", event=event, payload=payload)
    assert again.outcome == "lost_claim", again
    return _only("lost_claim")


MAKE: dict[str, Callable[[Lab], int]] = {
    make.__name__: make
    for make in (
        stale_version,
        rule_failed,
        not_owner_of_field,
        bad_transition,
        lost_record,
        unknown_send,
        missing_key,
        payload_mismatch,
        result_mismatch,
        lost_claim,
    )
}

# Rows of the other sources of the queue, as SQL of the owner: source -> statement.
OTHERS = {
    "failed_job": (
        "INSERT INTO failed_jobs (workflow_name, error_message, error_node, payload, waiting_since)"
        " VALUES ('shop', 'it <b>broke</b>', 'Send', '{\"a\": 1}', now()) RETURNING id::text"
    ),
    "job": (
        "INSERT INTO jobs (id, idem_key, provider, provider_key, handle, workflow, state, payload,"
        " run_after, ready_at, waiting_since) VALUES ('a/b c', 'k:1', 'hook', 'k', 'h', 'shop',"
        " 'queued', '{}', now(), now(), now()) RETURNING id"
    ),
    "batch": (
        "INSERT INTO batch_runs (workflow_name, status, last_cursor, waiting_since)"
        " VALUES ('shop', 'failed', '17', now()) RETURNING id::text"
    ),
    "outbox": (
        "INSERT INTO outbox (topic, subject, key, payload, given_up_at, waiting_since, workflow)"
        " VALUES ('t', 's', 'k#1', '{}', now(), now(), 'shop') RETURNING id::text"
    ),
    "run": (
        "INSERT INTO runs (id, workflow, needs_operator, waiting_since)"
        " VALUES (gen_random_uuid(), 'shop', true, now()) RETURNING id::text"
    ),
    "key": (
        "INSERT INTO idem (idem_key, workflow, waiting_since)"
        " VALUES ('write:x/y#customers/1', 'shop', now()) RETURNING idem_key"
    ),
}


def other(owner: psycopg.Connection, source: str) -> str:
    """Make one item of another source; return its id in the queue."""
    row = owner.execute(OTHERS[source]).fetchone()
    assert row is not None
    return str(row[0])
