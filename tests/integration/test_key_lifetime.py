"""Past the key's lifetime each path to a second send refuses.

The provider here has really forgotten the key, so a repeat would count twice.
"""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ledger.models import Conflict, Job
from ledger.operations.base import Caller
from ledger.operations.decisions import decide_conflict
from ledger.operations.failed_jobs import retry_failed_job
from ledger.operations.jobs import claim_job, claim_next_job, mark_sending
from ledger.operations.sweeps import decide_job, take_expired_jobs
from sweeper.sweep import run_once
from sweeper.work import Ended, work_once
from tests.support.lab import CALLER, Claim, Lab, running_lab

pytestmark = pytest.mark.django_db(transaction=True)

LIFETIME = 86_400


@pytest.fixture
def delivery() -> str:
    """Let a workflow send; a test may say that the native worker does."""
    return "workflow_queue"


@pytest.fixture
def lab(owner_sql: psycopg.Connection, delivery: str) -> Iterator[Lab]:
    """Run the crash lab."""
    with running_lab(owner_sql, delivery) as running:
        yield running


def sent_and_unheard(lab: Lab) -> Claim:
    """Send a charge, lose the answer; it is one effect."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    assert lab.effects(claim) == 1
    return claim


def forget(lab: Lab, claim: Claim) -> None:
    """Let the lifetime pass, for the ledger and for the provider itself."""
    lab.owner.execute(
        "UPDATE jobs SET first_marked_at = first_marked_at - make_interval(secs => %s)"
        " WHERE id = %s",
        [LIFETIME, claim.job_id],
    )
    lab.provider.effects.key_lifetime = 0


def cannot_be_asked(lab: Lab) -> None:
    """Take the look-up away, so that only the class speaks."""
    config = {name: part for name, part in lab.config("charge").items() if name != "look_up"}
    lab.set_provider("charge", lookup_config=Jsonb(config), lookup_by_reference=False)


def resend(conflict: Conflict, **more: Any) -> Any:
    """Let a person ask for a second send."""
    return decide_conflict(
        conflict_id=conflict.id,
        lock_version=conflict.lock_version,
        actor="olga",
        decision="resend",
        reason="the customer says nothing came",
        **more,
    )


def test_the_provider_has_really_forgotten(lab: Lab) -> None:
    """The proof that the tests below prove something: a repeat is a second effect."""
    claim = sent_and_unheard(lab)
    lab.send(claim)
    assert lab.effects(claim) == 1
    forget(lab, claim)
    lab.send(claim)
    assert lab.effects(claim) == 2


def test_reclaim_by_claim_job_is_refused(lab: Lab) -> None:
    """The event is delivered again after the lease: it waits for the sweeper."""
    claim = sent_and_unheard(lab)
    forget(lab, claim)
    lab.expire(claim)
    again = claim_job(
        Caller("shop", execution_id="42"),
        effect="charge",
        event={"id": "charge-1"},
        payload={"amount": 1, "to": "ada@example.com"},
    )
    assert again.outcome == "held_by_other"
    assert again.detail["reason"] == "expired_waits_for_sweeper"
    assert lab.effects(claim) == 1


@pytest.mark.parametrize("asks", [True, False])
def test_the_sweepers_requeue_is_refused(lab: Lab, asks: bool) -> None:
    """The table does not propose it, and the guard refuses it from a caller with a bug."""
    if not asks:
        cannot_be_asked(lab)
    claim = sent_and_unheard(lab)
    forget(lab, claim)
    lab.expire(claim)
    (taken,) = take_expired_jobs(actor="buggy", limit=10)
    assert taken.owner_token is not None
    assert taken.version is not None
    refused = decide_job(
        actor="buggy",
        job_id=claim.job_id,
        owner_token=taken.owner_token,
        expected_version=taken.version,
        decision="requeue",
        reason="a bug",
    )
    assert refused.outcome == "rule_failed"
    lab.expire(claim)
    run_once()
    assert (lab.job(claim).state, lab.effects(claim)) == ("done" if asks else "review", 1)


def test_a_look_up_that_finds_nothing_ends_with_a_person(lab: Lab) -> None:
    """Absent after the settle window is no leave to send past the lifetime."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.send(claim, "fail-before-forward")
    forget(lab, claim)
    for _ in range(2):
        lab.expire(claim)
        run_once()
        lab.owner.execute("UPDATE jobs SET settle_until = now() - interval '1 hour'")
    assert (lab.job(claim).state, lab.effects(claim)) == ("review", 0)
    assert lab.work_off() == 0


def test_the_retry_of_a_dead_letter_is_refused(lab: Lab) -> None:
    """A marked job is never buried; were one there by a bug, its letter would go to a person."""
    claim = sent_and_unheard(lab)
    forget(lab, claim)
    lab.owner.execute("UPDATE jobs SET state = 'dead' WHERE id = %s", [claim.job_id])
    lab.owner.execute(
        "INSERT INTO failed_jobs (job_id, workflow_name, payload, error_message)"
        " VALUES (%s, 'shop', '{}', 'boom') ON CONFLICT DO NOTHING",
        [claim.job_id],
    )
    row = lab.owner.execute(
        "SELECT id FROM failed_jobs WHERE job_id = %s", [claim.job_id]
    ).fetchone()
    assert row is not None
    answer = retry_failed_job(actor="dlq", failed_job_id=row[0])
    assert (answer.outcome, lab.job(claim).state) == ("in_review", "review")
    assert lab.effects(claim) == 1


@pytest.mark.parametrize("delivery", ["workflow_queue", "native"])
def test_a_late_queued_job_is_not_sent(lab: Lab, delivery: str) -> None:
    """Queued again in time, taken too late: the mark is refused, and with it the send."""
    cannot_be_asked(lab)
    claim = sent_and_unheard(lab)
    lab.expire(claim)
    run_once()
    assert lab.job(claim).state == "queued"
    forget(lab, claim)
    if delivery == "native":
        assert work_once() is Ended.LOST
    else:
        taken = claim_next_job(CALLER, work=["*"])
        assert taken.outcome == "won"
        assert taken.owner_token is not None
        lost = mark_sending(
            CALLER,
            job_id=claim.job_id,
            idem_key=claim.idem_key,
            owner_token=taken.owner_token,
        )
        assert lost.outcome == "in_review"
    assert (lab.job(claim).state, lab.effects(claim)) == ("review", 1)
    assert Conflict.objects.get(job_id=claim.job_id, state="open").kind == "unknown_send"


def test_a_persons_resend_asks_for_the_risk(lab: Lab) -> None:
    """The system never sends it; a person may, and has to say that it may be the second."""
    cannot_be_asked(lab)
    claim = sent_and_unheard(lab)
    forget(lab, claim)
    lab.expire(claim)
    run_once()
    conflict = Conflict.objects.get(job_id=claim.job_id, state="open")
    lost = resend(conflict)
    assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": "risk_acknowledged"})
    assert lab.job(claim).state == "review"
    assert resend(conflict, risk_acknowledged=True).outcome == "won"
    job = lab.job(claim)
    assert (job.state, job.first_marked_at, lab.effects(claim)) == ("queued", None, 1)


def test_inside_the_lifetime_a_resend_needs_no_tick(lab: Lab) -> None:
    """The provider still drops the repeat: the same decision, and one effect."""
    cannot_be_asked(lab)
    claim = sent_and_unheard(lab)
    lab.owner.execute("UPDATE jobs SET attempts = 3 WHERE id = %s", [claim.job_id])
    lab.expire(claim)
    run_once()
    conflict = Conflict.objects.get(job_id=claim.job_id, state="open")
    assert resend(conflict).outcome == "won"
    lab.owner.execute("UPDATE jobs SET run_after = now()")
    assert lab.work_off() == 1
    assert (Job.objects.get(id=claim.job_id).state, lab.effects(claim)) == ("done", 1)
