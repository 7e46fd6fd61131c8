"""retry_failed_job: a letter that names an event and no job enters it, joins it, or is over."""

import pytest

from tests.support.factories import SHOP, Shop, completed, enqueued, make_effect
from tests.support.letters import of_a_job, of_an_event, reread


def test_an_event_without_a_job_enters_the_queue(shop: Shop) -> None:
    """With the whole payload, also where the row keeps only a part of it."""
    letter = of_an_event(shop, payload={"text": "x" * 20_000})
    won = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (won.outcome, won.retry_count) == ("won", 1)
    (job,) = shop.rows("jobs")
    assert (won.job_id, job["state"], job["workflow"]) == (job["id"], "queued", SHOP)
    assert (job["payload"], job["event"]) == ({"text": "x" * 20_000}, {"id": 1})
    assert reread(shop, letter)["job_id"] == job["id"]
    ops = [(row["op"], row["outcome"]) for row in shop.audit.new()]
    assert ops[-2:] == [("enqueue_job", "inserted"), ("retry_failed_job", "won")]


def test_an_event_that_is_waiting_already_is_joined(shop: Shop) -> None:
    """The job that is there is the job of this letter from now on."""
    job_id = enqueued(shop)
    letter = of_an_event(shop)
    won = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (won.outcome, won.job_id, len(shop.rows("jobs"))) == ("won", job_id, 1)


def test_an_event_that_is_done_ends_its_letter(shop: Shop) -> None:
    """Nothing enters again."""
    completed(shop)
    letter = of_an_event(shop)
    assert shop.run("retry_failed_job", failed_job_id=letter["id"]).outcome == "already_decided"
    assert (reread(shop, letter)["state"], len(shop.rows("jobs"))) == ("resolved", 1)


@pytest.mark.parametrize("state", ["dead", "queued"])
def test_a_letter_whose_job_has_a_letter_is_folded_into_it(shop: Shop, state: str) -> None:
    """One living letter a job, also when the other was there first."""
    other = of_a_job(shop)
    if state == "queued":
        shop.run("retry_failed_job", failed_job_id=other["id"])
    letter = of_an_event(shop)
    answer = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (answer.outcome, reread(shop, letter)["state"]) == ("already_decided", "resolved")
    assert reread(shop, letter)["reason"] == f"into dead letter {other['id']}"


def test_an_event_that_a_person_is_asked_about_moves_there(shop: Shop) -> None:
    """Another payload for a finished event: the conflict shows both, the letter is over."""
    completed(shop)
    letter = of_an_event(shop, payload={"amount": 41})
    answer = shop.run("retry_failed_job", failed_job_id=letter["id"])
    (conflict,) = shop.rows("conflicts", kind="payload_mismatch")
    assert (answer.outcome, answer.detail["conflict_id"]) == ("in_review", conflict["id"])
    assert reread(shop, letter)["reason"] == "moved to review"


def test_what_only_a_registration_can_mend_waits_for_a_person(shop: Shop) -> None:
    """It is not due again and again for ever."""
    letter = of_an_event(shop, effect="not yet known")
    lost = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "unknown_effect")
    after = reread(shop, letter)
    assert (after["state"], after["next_retry_at"], after["waiting_since"] is None) == (
        "open",
        None,
        False,
    )
    make_effect(shop.owner, "not yet known")
    assert shop.run("retry_failed_job", failed_job_id=letter["id"]).outcome == "won"
