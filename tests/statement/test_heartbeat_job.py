"""heartbeat_job: the holder's lease starts again; for everybody else it is a signal to stop."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    OTHER,
    Shop,
    age,
    buried,
    claimed,
    completed,
    enqueued,
    expire,
    in_review,
    marked,
    sweep,
    swept,
)
from tests.support.races import race, race_rounds


def beat(shop: Shop, job: Any, **more: Any) -> Any:
    """Say that the holder is alive."""
    return shop.call("heartbeat_job", **(job.mine | more))


def test_the_lease_starts_again_from_now(shop: Shop) -> None:
    """claimed_at moves with it, so that both forms of the sweep leave a live job alone."""
    job = claimed(shop, lease_seconds=60)
    age(shop, job, "claimed_at", 0)
    before = shop.job(job)
    first, second = beat(shop, job), beat(shop, job)
    after = shop.job(job)
    assert (first.outcome, second.outcome) == ("won", "won")
    assert (after["version"], second.version) == (before["version"] + 2, before["version"] + 2)
    assert after["lease_expires_at"] == second.lease_expires_at > first.lease_expires_at
    assert after["lease_expires_at"] - after["claimed_at"] == timedelta(seconds=60)
    assert after["heartbeat_at"] == after["claimed_at"]
    assert (after["attempts"], after["marker_at"]) == (before["attempts"], before["marker_at"])


def test_a_late_holder_that_nobody_replaced_goes_on(shop: Shop) -> None:
    """The lease ran out, but the token is still the row's."""
    job = claimed(shop)
    expire(shop, job)
    assert beat(shop, job).outcome == "won"
    assert sweep(shop) == []
    assert shop.claim(owner_token=uuid4()).outcome == "held_by_other"


@pytest.mark.parametrize(
    ("make", "outcome", "state"),
    [
        (claimed, "held_by_other", "claimed"),
        (completed, "already_done", "done"),
        (in_review, "in_review", "review"),
        (buried, "held_by_other", "dead"),
    ],
)
def test_whoever_lost_the_job_hears_its_state(
    shop: Shop, make: Any, outcome: str, state: str
) -> None:
    """And changes nothing, whatever the token."""
    job = make(shop)
    before = shop.job(job)
    lost = beat(shop, job, owner_token=uuid4())
    assert (lost.outcome, lost.detail["state"], lost.version) == (outcome, state, None)
    if state != "claimed":
        assert beat(shop, job).outcome == outcome
    assert shop.job(job) == before


def test_a_loss_names_holder_and_lease(shop: Shop) -> None:
    """So that the loser knows how long to back off."""
    job = claimed(shop, worker="n8n-1")
    lost = beat(shop, job, owner_token=uuid4())
    assert lost.detail["holder"] == "n8n-1"
    assert lost.detail["lease_expires_at"] is not None


def test_a_swept_or_requeued_job_is_lost(shop: Shop) -> None:
    """The token was replaced, then nobody holds it."""
    job = claimed(shop)
    taken = swept(shop, job)
    assert beat(shop, job).outcome == "held_by_other"
    assert beat(shop, job, owner_token=taken.owner_token).outcome == "held_by_other"
    waiting = enqueued(shop, event=2)
    assert beat(shop, job, job_id=waiting).outcome == "held_by_other"


def test_a_job_that_is_gone_is_a_lost_claim(shop: Shop) -> None:
    """Start again from the source event."""
    job = claimed(shop)
    shop.owner.execute("DELETE FROM jobs")
    assert beat(shop, job).outcome == "lost_claim"


def test_another_workflow_without_the_token_is_refused(shop: Shop) -> None:
    """With the token it is the holder: work may be handed on."""
    job = claimed(shop)
    assert beat(shop, job, workflow=OTHER, owner_token=uuid4()).outcome == "wrong_role"
    assert beat(shop, job, workflow=OTHER).outcome == "won"


def test_heartbeats_keep_their_own_claim_alive_not_their_workers_name(shop: Shop) -> None:
    """A restarted worker of the same name does not keep the dead claim of its predecessor."""
    dead = claimed(shop, event=1, worker="n8n-1")
    live = claimed(shop, event=2, worker="n8n-1")
    for job in (dead, live):
        expire(shop, job)
    assert beat(shop, live, worker="n8n-1").outcome == "won"
    assert [row.job_id for row in sweep(shop)] == [dead.job_id]


def test_a_heartbeat_races_the_sweep(racing_shop: Shop) -> None:
    """Either the lease is renewed or the row is taken, never both."""
    shop, jobs = racing_shop, [marked(racing_shop, event=n) for n in range(15)]

    def sweeper(_round: int) -> str:
        return "taken" if sweep(shop) else "empty"

    rounds = race_rounds(
        len(jobs),
        lambda n: str(shop.run("heartbeat_job", **jobs[n].mine).outcome),
        sweeper,
        between=lambda n: expire(shop, jobs[n]),
    )
    assert {tuple(answers) for answers in rounds} <= {("won", "empty"), ("held_by_other", "taken")}


def test_two_claims_of_one_token_beat_apart(racing_shop: Shop) -> None:
    """The same holder from two connections is no conflict."""
    shop, job = racing_shop, claimed(racing_shop)
    answers = race(*[lambda: shop.run("heartbeat_job", **job.mine)] * 4)
    assert {a.outcome for a in answers} == {"won"}
    assert len({a.version for a in answers}) == 4
