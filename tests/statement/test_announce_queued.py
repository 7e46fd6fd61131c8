"""A job that comes into the queue calls its workflow, where a wake-up delivers the effect."""

from typing import Any

import pytest

from tests.support.conflicts import decide_open
from tests.support.factories import (
    BLIND,
    FORCED,
    SHOP,
    Shop,
    claimed,
    decide,
    enqueued,
    in_review,
    marked,
    order,
    swept,
)

URL = "https://n8n.example.com/webhook/paid"


@pytest.fixture
def woken(sql_shop: Shop) -> Shop:
    """Let every effect be delivered by a wake-up call."""
    sql_shop.owner.execute("UPDATE effects SET delivery = 'wake_webhook', wake_url = %s", [URL])
    return sql_shop


def calls(shop: Shop) -> list[dict[str, Any]]:
    """Return the calls in the outbox, oldest first."""
    return sorted(shop.rows("outbox", topic="job.queued"), key=lambda row: int(row["id"]))


def test_a_job_that_is_enqueued_calls_its_workflow_when_it_is_due(woken: Shop) -> None:
    """Once, in the same transaction, with what names it and nothing it holds."""
    job_id = enqueued(woken, run_after="2199-01-01T00:00:00Z")
    (call,) = calls(woken)
    assert (call["subject"], call["workflow"]) == (f"job:{job_id}", SHOP)
    assert call["payload"] == {"job_id": job_id, "effect": FORCED}
    assert call["next_attempt_at"].year == 2199
    assert woken.run("enqueue_job", **order()).outcome == "matched"
    assert len(calls(woken)) == 1


def test_a_claim_calls_nobody(woken: Shop) -> None:
    """Whoever claims is awake."""
    claimed(woken)
    marked(woken, event=2)
    assert calls(woken) == []


def test_a_job_offered_again_calls_again(woken: Shop) -> None:
    """The sweeper gave it back; the message is one of its own."""
    taken = swept(woken, marked(woken))
    assert decide(woken, taken, "requeue").state == "queued"
    (call,) = calls(woken)
    assert call["payload"]["job_id"] == taken.job_id


def test_a_persons_resend_calls_at_the_end_of_the_undo_window(woken: Shop) -> None:
    """Not before it can no longer be taken back."""
    job = in_review(woken, BLIND)
    decide_open(woken, "resend", risk_acknowledged=True)
    (call,) = calls(woken)
    assert call["next_attempt_at"] == woken.job(job)["run_after"]


def test_a_job_that_is_to_run_now_calls_now(woken: Shop) -> None:
    """A person moved its time; the first message would have come too late."""
    job_id = enqueued(woken, run_after="2199-01-01T00:00:00Z")
    done = woken.run(
        "decide_queued_job",
        job_id=job_id,
        version=woken.job(job_id)["version"],
        actor="ann",
        reason="the shop is open",
        decision="run_now",
    )
    assert done.outcome == "won"
    first, second = calls(woken)
    assert first["next_attempt_at"].year == 2199
    assert second["next_attempt_at"] < first["next_attempt_at"]


@pytest.mark.parametrize("delivery", ["workflow_queue", "native"])
def test_other_deliveries_call_nobody(sql_shop: Shop, delivery: str) -> None:
    """They are worked from the queue; an address that is left over does not matter."""
    shop = sql_shop
    shop.owner.execute("UPDATE effects SET delivery = %s, wake_url = %s", [delivery, URL])
    enqueued(shop)
    assert calls(shop) == []


def test_a_stamp_on_a_waiting_job_calls_nobody(woken: Shop) -> None:
    """Only what makes it due does."""
    job_id = enqueued(woken)
    woken.owner.execute("UPDATE jobs SET waiting_since = now() WHERE id = %s", [job_id])
    woken.owner.execute("UPDATE jobs SET run_after = run_after WHERE id = %s", [job_id])
    assert len(calls(woken)) == 1
