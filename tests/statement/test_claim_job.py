"""claim_job: one caller wins an event's effect, everybody else hears exactly why not."""

from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from tests.support.factories import (
    BLIND,
    OTHER,
    Shop,
    buried,
    claimed,
    completed,
    enqueued,
    expire,
    in_review,
    insert,
    mark,
    marked,
    order,
    swept,
)
from tests.support.tables import Tables

# -- the winning side ----------------------------------------------------------------------------


def test_the_winner_holds_the_job_for_the_lease(shop: Shop) -> None:
    """Key, job and lease are made in one step; nothing is marked yet."""
    won = shop.claim(execution_id="81", worker="n8n-1", workflow_version="7")
    assert (won.outcome, won.idem_key, won.attempts) == ("won", "charge:1", 1)
    assert (won.marker_at, won.result, won.effect_version) == (None, None, 1)
    job, key = shop.job(won.job_id), shop.row("idem", "charge:1")
    assert (job["state"], job["owner_token"], job["owner_name"]) == (
        "claimed",
        won.owner_token,
        "n8n-1",
    )
    assert (job["execution_id"], job["workflow_version"]) == ("81", "7")
    assert job["lease_expires_at"] - job["claimed_at"] == timedelta(seconds=600)
    assert job["lease_expires_at"] == won.lease_expires_at
    assert (key["status"], key["job_id"], key["payload_hash"]) == (
        "pending",
        won.job_id,
        job["payload_hash"],
    )
    assert (won.provider_key, won.handle) == (job["provider_key"], job["handle"])
    assert key["retain_until"] > key["last_possible_retry_at"]


def test_the_caller_may_choose_token_and_lease(shop: Shop) -> None:
    """A token made by the caller makes the claim repeatable."""
    token = uuid4()
    won = shop.claim(owner_token=token, lease_seconds=5)
    assert (won.outcome, won.owner_token) == ("won", token)
    job = shop.job(won.job_id)
    assert job["lease_expires_at"] - job["claimed_at"] == timedelta(seconds=5)
    assert shop.claim(event=2, lease_seconds=86_400).outcome == "won"
    for seconds in (4, 86_401):
        refused = shop.claim(event=3, lease_seconds=seconds)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", "lease_seconds")


def test_a_due_job_of_the_queue_is_claimed(shop: Shop) -> None:
    """What was enqueued before is taken, not doubled."""
    job_id = enqueued(shop)
    won = shop.claim()
    assert (won.outcome, won.job_id, won.attempts) == ("won", job_id, 1)


def test_a_job_that_is_not_due_is_not_given(shop: Shop) -> None:
    """The answer says when it will be."""
    job_id = enqueued(shop, run_after="2199-01-01T00:00:00Z")
    lost = shop.claim()
    assert (lost.outcome, lost.detail["reason"]) == ("held_by_other", "not_due")
    assert lost.detail["run_after"].startswith("2199-01-01")
    assert shop.job(job_id)["state"] == "queued"


# -- the losing side -----------------------------------------------------------------------------


def test_the_second_hears_who_holds_it_and_until_when(shop: Shop) -> None:
    """Nothing of the holder's row changes, and no token is given away."""
    job = claimed(shop, worker="n8n-1")
    lost = shop.claim(owner_token=uuid4())
    assert (lost.outcome, lost.detail["reason"], lost.detail["holder"]) == (
        "held_by_other",
        "claimed",
        "n8n-1",
    )
    row = shop.job(job)
    assert (lost.owner_token, lost.lease_expires_at) == (None, row["lease_expires_at"])
    assert (row["version"], row["owner_token"]) == (job.version, job.token)


def test_a_done_event_replays_its_stored_result(shop: Shop) -> None:
    """Twenty deliveries later the answer is the same and there is one effect."""
    job = completed(shop)
    answers = [shop.claim() for _ in range(20)]
    assert {
        (a.outcome, a.job_id, a.result["ok"], a.http_status, a.owner_token) for a in answers
    } == {("replay", job.job_id, 1, 200, None)}
    assert len(shop.rows("jobs")) == 1


def test_an_event_in_review_names_its_question(shop: Shop) -> None:
    """The conflict a person must answer is in the detail."""
    in_review(shop)
    lost = shop.claim(BLIND)
    (conflict,) = shop.rows("conflicts")
    assert (lost.outcome, lost.detail["conflict_id"]) == ("in_review", conflict["id"])


def test_a_dead_letter_says_so(shop: Shop) -> None:
    """With the error it died of."""
    job = buried(shop)
    lost = shop.claim()
    assert (lost.outcome, lost.job_id, lost.detail["error"]) == (
        "dead_lettered",
        job.job_id,
        "refused",
    )


def test_a_row_the_sweeper_holds_is_held(shop: Shop) -> None:
    """The sweeper's lease binds like a worker's."""
    swept(shop, marked(shop))
    lost = shop.claim()
    assert (lost.outcome, lost.detail["reason"]) == ("held_by_other", "sweeping")


def test_a_key_without_its_job_is_no_claim(sql_shop: Shop) -> None:
    """The insert of the key is the claim, and goes with the job that could not be stored."""
    before = Tables(sql_shop.owner).rows()
    sql_shop.owner.execute("ALTER TABLE jobs ADD CONSTRAINT closed CHECK (id IS NULL) NOT VALID")
    try:
        with pytest.raises(psycopg.errors.CheckViolation, match="closed"):
            sql_shop.run("claim_job", **order())
    finally:
        sql_shop.owner.execute("ALTER TABLE jobs DROP CONSTRAINT closed")
    assert Tables(sql_shop.owner).rows() == before
    assert sql_shop.claim().outcome == "won"


def test_a_key_whose_job_is_gone_goes_to_a_person_with_its_event(shop: Shop) -> None:
    """Never silently claimed again: the send may have happened."""
    job = claimed(shop)
    shop.owner.execute("DELETE FROM jobs WHERE id = %s", [job.job_id])
    lost = shop.claim()
    (conflict,) = shop.rows("conflicts", kind="lost_claim")
    assert (lost.outcome, lost.detail["conflict_id"]) == ("lost_claim", conflict["id"])
    assert (conflict["event"], conflict["state"]) == ({"id": 1}, "open")
    assert shop.claim().outcome == "in_review"
    assert shop.row("idem", job.idem_key)["status"] == "review"


def test_an_archived_key_replays_and_is_not_claimed_again(shop: Shop) -> None:
    """The key left the live table long ago; its answer is the same."""
    completed(shop)
    columns = shop.row("idem", "charge:1")
    del columns["waiting_since"]
    shop.owner.execute("DELETE FROM idem")
    insert(shop.owner, "idem_archive", **columns)
    again = shop.claim()
    assert (again.outcome, again.result["ok"], again.http_status) == ("replay", 1, 200)
    assert (shop.rows("idem"), len(shop.rows("jobs"))) == ([], 1)


# -- the repeat ----------------------------------------------------------------------------------


def test_the_same_token_resumes(shop: Shop) -> None:
    """A reply was lost: the same claim again is the same claim, marked or not."""
    job = claimed(shop)
    again = shop.claim(owner_token=job.token)
    assert (again.outcome, again.detail["resumed"], again.version) == ("won", True, job.version)
    assert (again.job_id, again.owner_token, again.marker_at) == (job.job_id, job.token, None)
    mark(shop, job)
    assert shop.claim(owner_token=job.token).marker_at == shop.job(job)["marker_at"]
    assert shop.job(job)["attempts"] == 1


def test_the_same_execution_resumes_without_a_token(shop: Shop) -> None:
    """A Wait that starts the workflow from its first node meets its own claim."""
    job = claimed(shop, execution_id="7", instance="main")
    again = shop.claim(execution_id="7", instance="main")
    assert (again.outcome, again.owner_token) == ("won", job.token)
    for stranger in (
        {"execution_id": "8", "instance": "main"},
        {"execution_id": "7", "instance": "backup"},
        {"execution_id": "7", "instance": "main", "owner_token": uuid4()},
        {"instance": "main"},
    ):
        assert shop.claim(**stranger).outcome == "held_by_other", stranger


@pytest.mark.parametrize("next_holder", ["claim_job", "claim_next_job"])
def test_an_execution_does_not_resume_what_somebody_else_holds_now(
    shop: Shop, next_holder: str
) -> None:
    """The earlier holder's execution, or the one that enqueued, gets no token of the next."""
    first = claimed(shop, execution_id="7")
    if next_holder == "claim_job":
        expire(shop, first)
        assert shop.claim().outcome == "won"
    else:
        assert shop.run("release_job", **first.mine).next == "queued"
        assert shop.run("claim_next_job").outcome == "won"
    back = shop.claim(execution_id="7")
    assert (back.outcome, back.owner_token) == ("held_by_other", None)


def test_the_enqueuing_execution_does_not_resume_the_workers_claim(shop: Shop) -> None:
    """Whoever put a job into the queue does not hold it."""
    enqueued(shop, execution_id="7")
    assert shop.run("claim_next_job").outcome == "won"
    assert shop.claim(execution_id="7").outcome == "held_by_other"


def test_a_spent_token_never_claims_the_row_again(shop: Shop) -> None:
    """Time gates the competitor, identity gates the continuation."""
    job = claimed(shop)
    assert shop.run("release_job", **job.mine).next == "queued"
    lost = shop.claim(owner_token=job.token)
    assert (lost.outcome, lost.detail["reason"]) == ("held_by_other", "token_spent")
    assert shop.claim(owner_token=uuid4()).outcome == "won"


# -- who may claim what --------------------------------------------------------------------------


def test_an_unknown_effect_stores_nothing(shop: Shop) -> None:
    """Registering it and calling again is right."""
    refused = shop.claim("nope")
    assert (refused.outcome, refused.job_id) == ("unknown_effect", None)
    assert "register" in refused.detail["hint"]
    assert (shop.rows("idem"), shop.rows("jobs"), shop.rows("conflicts")) == ([], [], [])


def test_an_effect_of_another_workflow_is_refused(shop: Shop) -> None:
    """Its owner keeps it."""
    refused = shop.claim(workflow=OTHER)
    assert (refused.outcome, shop.rows("idem")) == ("wrong_role", [])
