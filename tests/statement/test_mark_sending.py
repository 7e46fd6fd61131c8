"""mark_sending: the only way to a send; after won, send once."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    EFFECTS,
    FORCED,
    HANDLE,
    OTHER,
    Held,
    Shop,
    age,
    claimed,
    completed,
    enqueued,
    expire,
    in_review,
    mark,
    marked,
    sweep,
    swept,
)
from tests.support.races import race, race_rounds


def send(shop: Shop, job: Held, **more: Any) -> Any:
    """Announce the send of a job."""
    return shop.call("mark_sending", **(job.mine | {"idem_key": job.idem_key} | more))


# -- the winning side ----------------------------------------------------------------------------


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_marker_is_written_before_the_send(shop: Shop, effect: str) -> None:
    """Marker, handle and execution are there however the worker dies next."""
    job = claimed(shop, effect)
    won = send(shop, job, execution_id="91")
    row = shop.job(job)
    assert (won.outcome, won.send_no, won.version) == ("won", 1, row["version"])
    assert (won.provider_key, won.handle) == (row["provider_key"], row["handle"])
    assert row["marker_at"] == row["first_marked_at"] is not None
    assert row["execution_id"] == "91"


def test_one_mark_has_one_moment(sql_shop: Shop) -> None:
    """The first mark of the first send is both marks; a rejection must be able to tell."""
    jobs = [marked(sql_shop, BLIND, n) for n in range(100)]
    rows = [sql_shop.job(job) for job in jobs]
    assert [row["marker_at"] == row["first_marked_at"] for row in rows] == [True] * 100


# -- the repeat ----------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", [HANDLE, BLIND])
def test_an_advisory_send_is_never_announced_twice(shop: Shop, effect: str) -> None:
    """The reply was lost: nobody knows whether the send followed, so the sweeper decides."""
    job = marked(shop, effect)
    before = shop.job(job)
    again = send(shop, job)
    assert (again.outcome, again.provider_key, again.send_no) == ("already_marked", None, None)
    assert again.detail["marker_at"] is not None
    assert shop.job(job) == before


def test_a_forced_unique_send_is_announced_again_under_the_same_key(shop: Shop) -> None:
    """The provider itself refuses the second effect."""
    job = claimed(shop)
    first = send(shop, job)
    marks = shop.job(job)
    again = send(shop, job)
    row = shop.job(job)
    assert (again.outcome, again.send_no) == ("won", 2)
    assert (again.provider_key, again.handle) == (first.provider_key, first.handle)
    assert (row["marker_at"], row["first_marked_at"]) == (
        marks["marker_at"],
        marks["first_marked_at"],
    )


def test_past_the_key_lifetime_a_repeat_is_already_marked(shop: Shop) -> None:
    """The provider may have forgotten the key; an hour less counts too, for the lease to come."""
    job = marked(shop)
    age(shop, job, "first_marked_at", 86_400 - 599)
    assert send(shop, job).outcome == "already_marked"


def test_past_the_key_lifetime_a_new_claim_goes_to_review(shop: Shop) -> None:
    """It was offered again in time, but taken too late."""
    job = marked(shop)
    taken = swept(shop, job)
    shop.run(
        "decide_job",
        job_id=job.job_id,
        owner_token=taken.owner_token,
        expected_version=taken.version,
        decision="requeue",
        reason="test",
    )
    won = shop.claim()
    age(shop, job, "first_marked_at", 86_400)
    lost = shop.call(
        "mark_sending", job_id=job.job_id, owner_token=won.owner_token, idem_key=job.idem_key
    )
    (conflict,) = shop.rows("conflicts")
    assert (lost.outcome, lost.detail["conflict_id"]) == ("in_review", conflict["id"])
    assert (conflict["kind"], conflict["state"]) == ("unknown_send", "open")
    assert (shop.job(job)["state"], shop.row("idem", job.idem_key)["status"]) == (
        "review",
        "review",
    )
    assert conflict["current_snapshot"]["first_marked_at"] is not None
    assert [row["topic"] for row in shop.rows("outbox")] == ["review.opened"]


# -- each guard, violated alone ------------------------------------------------------------------


def test_no_key_no_send(shop: Shop) -> None:
    """The item goes to a person with all it carried; the job stays unmarked."""
    job = claimed(shop)
    for lost_key in ("", " ", "null", "undefined", None):
        refused = send(shop, job, idem_key=lost_key)
        assert (refused.outcome, refused.detail["path"]) == ("missing_key", "idem_key")
    (conflict,) = shop.rows("conflicts")
    assert (conflict["job_id"], conflict["event"], conflict["state"]) == (
        job.job_id,
        job.event,
        "open",
    )
    assert conflict["attempted"]["value"]["amount"] == 40
    assert shop.job(job)["first_marked_at"] is None


@pytest.mark.parametrize("key", ["charge:2", "charge:1 ", "Charge:1", "x" * 5000])
def test_the_key_is_compared_byte_for_byte(shop: Shop, key: str) -> None:
    """An item that carries another item's key sends nothing."""
    job = claimed(shop)
    assert send(shop, job, idem_key=key).outcome == "key_mismatch"
    assert shop.job(job)["first_marked_at"] is None


def test_after_the_lease_nothing_is_sent(shop: Shop) -> None:
    """Somebody else may already believe the job is theirs; a heartbeat first makes it good."""
    job = claimed(shop)
    expire(shop, job)
    lost = send(shop, job)
    assert (lost.outcome, shop.job(job)["marker_at"]) == ("lease_expired", None)
    assert lost.detail["lease_expires_at"] is not None
    assert shop.run("heartbeat_job", **job.mine).outcome == "won"
    assert send(shop, job).outcome == "won"


@pytest.mark.parametrize("make", [claimed, completed, in_review])
def test_without_the_token_nothing_is_sent(shop: Shop, make: Any) -> None:
    """Whatever became of the job."""
    job = make(shop)
    assert send(shop, job, owner_token=uuid4()).outcome == "held_by_other"
    if make is not claimed:
        assert send(shop, job).outcome == "held_by_other"


def test_a_queued_or_swept_job_is_not_sent(shop: Shop) -> None:
    """A worker that missed its expiry stops here."""
    waiting = enqueued(shop, event=2)
    stranger = Held(waiting, "charge:2", uuid4(), 1, {"id": 2})
    assert send(shop, stranger).outcome == "held_by_other"
    job = claimed(shop)
    swept(shop, job)
    assert send(shop, job).outcome == "held_by_other"


def test_a_job_that_is_gone_is_a_lost_claim(shop: Shop) -> None:
    """With or without a key: there is no item to park."""
    gone = Held("nobody", "charge:1", uuid4(), 1, {})
    assert send(shop, gone).outcome == "lost_claim"
    assert send(shop, gone, idem_key=None).outcome == "lost_claim"
    assert shop.rows("conflicts") == []


def test_another_workflow_learns_nothing_of_the_item(shop: Shop) -> None:
    """Not even by losing its key."""
    job = claimed(shop)
    stranger = {"workflow": OTHER, "owner_token": uuid4()}
    assert send(shop, job, **stranger).outcome == "wrong_role"
    assert send(shop, job, idem_key=None, **stranger).outcome == "wrong_role"
    assert shop.rows("conflicts") == []


# -- races ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", [FORCED, BLIND])
def test_racing_marks_of_one_claim(racing_shop: Shop, effect: str) -> None:
    """Of eight, one may send where nothing else stops a second effect."""
    shop, job = racing_shop, claimed(racing_shop, effect)
    key = {"idem_key": job.idem_key}
    answers = race(*[lambda: shop.run("mark_sending", **job.mine, **key)] * 8)
    outcomes = sorted(answer.outcome for answer in answers)
    if effect == BLIND:
        assert outcomes == ["already_marked"] * 7 + ["won"]
    else:
        assert outcomes == ["won"] * 8
        assert sorted(answer.send_no for answer in answers) == list(range(1, 9))
    assert len(shop.audit.new()) == 9


def test_a_mark_races_the_sweep(racing_shop: Shop) -> None:
    """A row is marked by its holder or swept, never marked after it was taken."""
    shop, jobs = racing_shop, [claimed(racing_shop, BLIND, n) for n in range(15)]

    def marking(n: int) -> str:
        key = {"idem_key": jobs[n].idem_key}
        return str(shop.run("mark_sending", **jobs[n].mine, **key).outcome)

    def sweeping(_round: int) -> str:
        while not (taken := sweep(shop)):  # the row is passed by while the other looks at it
            pass
        return ",".join(f"marked={row.marked}" for row in taken)

    rounds = race_rounds(len(jobs), marking, sweeping, between=lambda n: expire(shop, jobs[n]))
    assert {tuple(answers) for answers in rounds} <= {
        ("lease_expired", "marked=False"),
        ("held_by_other", "marked=False"),
    }
    assert {row["send_no"] for row in shop.rows("jobs")} == {0}


def test_the_second_worker_of_a_redriven_job_sends_under_the_same_key(shop: Shop) -> None:
    """A new claim marks anew: first_marked_at stays, send_no counts."""
    job = claimed(shop)
    first = mark(shop, job)
    before = shop.job(job)
    expire(shop, job)
    won = shop.claim()
    again = shop.call(
        "mark_sending", job_id=job.job_id, owner_token=won.owner_token, idem_key=job.idem_key
    )
    row = shop.job(job)
    assert (again.outcome, again.send_no, again.provider_key) == ("won", 2, first.provider_key)
    assert row["first_marked_at"] == before["first_marked_at"] < row["marker_at"]
