"""decide_queued_job: a person lets a waiting job run now, or ends it."""

from typing import Any

import pytest

from tests.support.factories import (
    Shop,
    buried,
    claimed,
    completed,
    enqueued,
    in_review,
    marked,
)
from tests.support.races import race

LATER = "2199-01-01T00:00:00Z"


def _named(shop: Shop, job_id: str, decision: str, **more: Any) -> dict[str, Any]:
    named = {"job_id": job_id, "version": shop.job(job_id)["version"], "decision": decision}
    return named | {"reason": "looked", "actor": "anna"} | more


def _decide(shop: Shop, job_id: str, decision: str, **more: Any) -> Any:
    return shop.call("decide_queued_job", **_named(shop, job_id, decision, **more))


def test_a_job_runs_now(shop: Shop) -> None:
    """It was to wait for long."""
    job_id = enqueued(shop, run_after=LATER)
    assert shop.run("claim_next_job").outcome == "empty"
    won = _decide(shop, job_id, "run_now")
    assert (won.outcome, won.state, won.version) == ("won", "queued", 2)
    assert shop.run("claim_next_job").job_id == job_id


def test_a_job_is_given_up(shop: Shop) -> None:
    """With its key; a redelivery hears so."""
    job_id = enqueued(shop)
    won = _decide(shop, job_id, "abandon")
    assert (won.outcome, won.state) == ("won", "abandoned")
    key = shop.row("idem", "charge:1")
    assert (key["status"], key["outcome"], key["result"]["decided_by"]) == (
        "done",
        "abandoned",
        "anna",
    )
    assert shop.claim().outcome == "replay"


def test_a_letter_of_a_job_that_is_given_up_ends_with_it(shop: Shop) -> None:
    """A retry that nobody wants any more."""
    job = buried(shop)
    (letter,) = shop.rows("failed_jobs")
    shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert _decide(shop, job.job_id, "abandon").outcome == "won"
    (letter,) = shop.rows("failed_jobs")
    assert (letter["state"], letter["reason"]) == ("resolved", "decide_queued_job")


@pytest.mark.parametrize("decision", ["run_now", "abandon"])
def test_nothing_is_decided_twice_or_unseen_or_without_a_reason(shop: Shop, decision: str) -> None:
    """The version on the screen is the version decided about."""
    job_id = enqueued(shop, run_after=LATER)
    refused = _decide(shop, job_id, decision, reason="\t")
    assert (refused.outcome, refused.detail["needs"]) == ("rule_failed", "reason")
    named = _named(shop, job_id, decision)
    assert shop.call("decide_queued_job", **named).outcome == "won"
    before = shop.job(job_id)
    again = shop.call("decide_queued_job", **named | {"actor": "bert"})
    assert (again.outcome, again.detail["state"]) == ("already_decided", before["state"])
    assert shop.job(job_id) == before


@pytest.mark.parametrize("decision", ["run_now", "abandon"])
@pytest.mark.parametrize(
    ("make", "outcome"),
    [
        (claimed, "bad_transition"),
        (marked, "bad_transition"),
        (buried, "bad_transition"),
        (in_review, "bad_transition"),
        (completed, "already_decided"),
    ],
)
def test_a_job_that_does_not_wait_is_not_decided_here(
    sql_shop: Shop, make: Any, outcome: str, decision: str
) -> None:
    """Somebody holds it, or another decision ends it."""
    shop = sql_shop
    job = make(shop)
    before = shop.job(job)
    assert _decide(shop, job.job_id, decision).outcome == outcome
    assert shop.job(job) == before


def test_an_unknown_job(shop: Shop) -> None:
    """There is no such thing."""
    refused = shop.call(
        "decide_queued_job", job_id="nothing", version=1, decision="abandon", reason="x"
    )
    assert refused.outcome == "invalid"


def test_a_worker_and_a_person_exclude_each_other(racing_shop: Shop) -> None:
    """Either it is worked, or it is over."""
    shop = racing_shop
    for n in range(10):
        job_id = enqueued(shop, event=n)
        named = _named(shop, job_id, "abandon")
        decided, taken = race(
            lambda named=named: shop.run("decide_queued_job", **named),
            lambda: shop.run("claim_next_job"),
        )
        state = shop.job(job_id)["state"]
        if decided.outcome == "won":
            assert (taken.outcome, state) == ("empty", "abandoned")
        else:
            assert (decided.outcome, taken.job_id, state) == ("bad_transition", job_id, "claimed")
