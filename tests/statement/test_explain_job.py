"""explain_job: who holds a job, in which state, with which evidence; it changes nothing."""

from typing import Any

from tests.support.factories import (
    BLIND,
    OTHER,
    Held,
    Shop,
    claimed,
    completed,
    enqueued,
    in_review,
    look_up,
    marked,
    swept,
)


def explain(shop: Shop, job: Held | str, **more: Any) -> Any:
    """Ask about a job."""
    job_id = job if isinstance(job, str) else job.job_id
    return shop.call("explain_job", job_id=job_id, **more)


def test_a_held_job_shows_its_holder_and_lease(shop: Shop) -> None:
    """Never its token."""
    job = marked(shop, worker="n8n-1")
    told, row = explain(shop, job), shop.job(job)
    assert (told.outcome, told.state, told.owner, told.owner_kind) == (
        "won",
        "claimed",
        "n8n-1",
        "worker",
    )
    assert (told.job_id, told.idem_key, told.version) == (
        row["id"],
        row["idem_key"],
        row["version"],
    )
    assert (told.lease_expires_at, told.run_after) == (row["lease_expires_at"], row["run_after"])
    assert (told.marker_at, told.first_marked_at) == (row["marker_at"], row["first_marked_at"])
    assert (told.attempts, told.resends, told.send_no) == (1, 0, 1)
    assert str(job.token) not in repr(told)
    assert shop.job(job) == row


def test_every_state_is_told(shop: Shop) -> None:
    """Queued, claimed, swept, in review, done."""
    jobs: dict[str, Any] = {
        "queued": enqueued(shop, event=1),
        "claimed": claimed(shop, event=2),
        "done": completed(shop, event=3),
        "review": in_review(shop, BLIND, 4),
    }
    for state, job in jobs.items():
        assert explain(shop, job).state == state
    swept(shop, jobs["claimed"])
    told = explain(shop, jobs["claimed"])
    assert (told.state, told.owner_kind) == ("sweeping", "sweeper")


def test_evidence_comes_newest_first(shop: Shop) -> None:
    """What is known about the send, without the bodies."""
    job = marked(shop, BLIND)
    taken = swept(shop, job)
    look_up(shop, taken, "lookup_error")
    shop.run("record_receipt", **job.mine, provider_ref="r-1", body={"secret": 1})
    told = explain(shop, job)
    assert [(e["kind"], e["provider_ref"], e["send_no"]) for e in told.evidence] == [
        ("late_receipt", "r-1", 1),
        ("lookup_error", None, 1),
    ]
    assert "secret" not in repr(told.evidence)


def test_an_unknown_job_is_a_lost_claim(shop: Shop) -> None:
    """A look leaves no trace."""
    assert explain(shop, "gone").outcome == "lost_claim"


def test_another_workflows_job_stays_closed(shop: Shop) -> None:
    """And the attempt is on record."""
    refused = explain(shop, claimed(shop), workflow=OTHER)
    assert (refused.outcome, refused.state, refused.owner) == ("wrong_role", None, None)
