"""release_job: a job is given back untouched; after a mark it may not be."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    OTHER,
    Held,
    Shop,
    claimed,
    completed,
    expire,
    in_review,
    mark,
    marked,
    swept,
)
from tests.support.races import race


def release(shop: Shop, job: Held, **more: Any) -> Any:
    """Give a job back."""
    return shop.call("release_job", **(job.mine | more))


def test_the_job_is_due_at_once(shop: Shop) -> None:
    """The attempt counts, the token is spent."""
    job = claimed(shop)
    won = release(shop, job)
    row = shop.job(job)
    assert (won.outcome, won.next, row["state"], row["attempts"]) == ("won", "queued", "queued", 1)
    assert (row["owner_token"], row["last_owner_token"]) == (None, job.token)
    assert shop.run("claim_next_job").job_id == job.job_id


def test_an_advisory_job_too(shop: Shop) -> None:
    """Nothing was announced, so nothing was sent."""
    assert release(shop, claimed(shop, BLIND)).next == "queued"


def test_after_the_mark_it_stays(shop: Shop) -> None:
    """A send was announced: complete it, or say what became of it."""
    job = marked(shop)
    before = shop.job(job)
    lost = release(shop, job)
    assert (lost.outcome, lost.next, shop.job(job)) == ("already_marked", None, before)
    assert lost.detail["marker_at"] is not None


def test_without_attempts_left_it_dies(shop: Shop) -> None:
    """With a letter that a person sees."""
    job = claimed(shop)
    shop.owner.execute("UPDATE jobs SET attempts = 3")
    assert release(shop, job).next == "dead"
    assert shop.job(job)["state"] == "dead"
    assert shop.rows("failed_jobs")[0]["job_id"] == job.job_id


def test_an_earlier_send_keeps_it_from_dying(shop: Shop) -> None:
    """This claim did not mark, the one before did: the sweeper decides."""
    job = marked(shop)
    expire(shop, job)
    won = shop.claim()
    again = Held(won.job_id, won.idem_key, won.owner_token, won.version, job.event)
    shop.owner.execute("UPDATE jobs SET attempts = 3")
    assert release(shop, again).next == "left_for_sweeper"
    assert (shop.job(job)["state"], shop.rows("failed_jobs")) == ("claimed", [])


def test_the_repeat_hears_the_first_answer(shop: Shop) -> None:
    """Also when somebody else holds the job by now."""
    job = claimed(shop)
    release(shop, job)
    again = release(shop, job)
    assert (again.outcome, again.next) == ("replay", "queued")
    other = shop.claim()
    mark(shop, Held(other.job_id, other.idem_key, other.owner_token, other.version, {}))
    assert release(shop, job).outcome == "replay"
    assert shop.job(job)["owner_token"] == other.owner_token


@pytest.mark.parametrize("make", [claimed, completed, in_review])
def test_who_does_not_hold_it_releases_nothing(shop: Shop, make: Any) -> None:
    """In whatever state it is."""
    job = make(shop)
    before = shop.job(job)
    assert release(shop, job, owner_token=uuid4()).outcome == "held_by_other"
    assert shop.job(job) == before


def test_swept_gone_or_foreign(shop: Shop) -> None:
    """Each loss by its name."""
    job = claimed(shop)
    assert release(shop, job, workflow=OTHER, owner_token=uuid4()).outcome == "wrong_role"
    swept(shop, job)
    assert release(shop, job).outcome == "held_by_other"
    assert release(shop, job, job_id="gone").outcome == "lost_claim"


def test_a_release_races_a_mark(racing_shop: Shop) -> None:
    """Either the send is announced or the job is free, never both."""
    shop, job = racing_shop, claimed(racing_shop, BLIND)
    key = {"idem_key": job.idem_key}
    freed, sent = race(
        lambda: shop.run("release_job", **job.mine),
        lambda: shop.run("mark_sending", **job.mine, **key),
    )
    row = shop.job(job)
    assert (freed.outcome, sent.outcome, row["state"], row["marker_at"] is None) in {
        ("won", "held_by_other", "queued", True),
        ("already_marked", "won", "claimed", False),
    }
