"""record_receipt: the provider's own id is kept the moment it is known, whoever holds the job."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    HANDLE,
    OTHER,
    Held,
    Shop,
    claimed,
    completed,
    decide,
    expire,
    in_review,
    mark,
    marked,
    swept,
)
from tests.support.races import race


def receive(shop: Shop, job: Held, ref: str = "ch_1", **more: Any) -> Any:
    """Report what the provider answered."""
    return shop.call("record_receipt", **(job.mine | {"provider_ref": ref} | more))


def test_a_receipt_is_on_the_job_and_among_the_evidence(shop: Shop) -> None:
    """A worker that dies now leaves enough to close the job."""
    job = marked(shop)
    won = receive(shop, job, body={"status": "succeeded"})
    row = shop.job(job)
    (evidence,) = shop.rows("evidence")
    assert (won.outcome, won.version, won.detail) == ("won", row["version"], None)
    assert (row["provider_ref"], row["receipt_at"] is not None) == ("ch_1", True)
    assert (evidence["kind"], evidence["source"], evidence["send_no"]) == (
        "receipt",
        "workflow:shop",
        1,
    )
    assert (evidence["provider_ref"], evidence["body"]) == ("ch_1", {"status": "succeeded"})


@pytest.mark.parametrize("effect", ["charge", HANDLE, BLIND])
def test_a_receipt_lets_the_sweeper_close_the_job(shop: Shop, effect: str) -> None:
    """And nothing else: what landed is not sent again."""
    job = marked(shop, effect)
    receive(shop, job)
    taken = swept(shop, job)
    assert taken.positive
    for decision in ("requeue", "review", "wait"):
        assert decide(shop, taken, decision).detail["why"] == "evidence_says_done", decision
    assert decide(shop, taken, "done").state == "done"
    assert shop.row("idem", job.idem_key)["result"]["provider_ref"] == "ch_1"


def test_a_receipt_without_a_mark_counts_as_one(shop: Shop) -> None:
    """It proves a send, so the job may not be offered as untouched any more."""
    job = claimed(shop, BLIND)
    won = receive(shop, job)
    row = shop.job(job)
    assert (won.outcome, won.detail["unmarked"]) == ("won", True)
    assert row["marker_at"] == row["first_marked_at"] == row["receipt_at"]
    assert shop.run("release_job", **job.mine).outcome == "already_marked"
    assert swept(shop, job).positive


def test_the_same_receipt_again_is_a_replay(shop: Shop) -> None:
    """Before and after the end; another id is news."""
    job = marked(shop)
    receive(shop, job)
    assert receive(shop, job).outcome == "replay"
    assert receive(shop, job, "ch_2").outcome == "won"
    assert [row["provider_ref"] for row in shop.rows("evidence")] == ["ch_1", "ch_2"]
    shop.run("complete_job", **job.mine, result=1)
    assert receive(shop, job, "ch_2").outcome == "replay"
    assert len(shop.rows("evidence")) == 2


def test_a_receipt_speaks_of_its_own_send(shop: Shop) -> None:
    """The provider answers the repeat with the same id: that is evidence of the repeat too."""
    job = marked(shop)
    receive(shop, job)
    mark(shop, job)
    assert receive(shop, job).outcome == "won"
    assert [row["send_no"] for row in shop.rows("evidence")] == [1, 2]
    assert swept(shop, job).positive


def test_a_late_receipt_is_kept_and_changes_nothing(shop: Shop) -> None:
    """The sweeper holds the row; what the fenced worker knows lets it be closed."""
    job = marked(shop, HANDLE)
    taken = swept(shop, job)
    before = shop.job(job)
    late = receive(shop, job, "mail-9", body=[1])
    (evidence,) = shop.rows("evidence")
    assert (late.outcome, late.detail["evidence_id"]) == ("held_by_other", evidence["id"])
    assert (evidence["kind"], evidence["send_no"], evidence["body"]) == ("late_receipt", 1, [1])
    assert shop.job(job) == before
    assert receive(shop, job, "mail-9", body=[1]).detail["evidence_id"] == evidence["id"]
    assert decide(shop, taken, "done").state == "done"
    assert shop.job(job)["provider_ref"] == "mail-9"


def test_a_receipt_of_an_earlier_send_does_not_close_the_later_one(shop: Shop) -> None:
    """B took over and marked; A's answer is of the send before."""
    first = marked(shop)
    expire(shop, first)
    won = shop.claim()
    second = Held(won.job_id, won.idem_key, won.owner_token, won.version, first.event)
    mark(shop, second)
    late = receive(shop, first)
    assert (late.outcome, shop.rows("evidence")[0]["send_no"]) == ("held_by_other", 0)
    taken = swept(shop, second)
    assert not taken.positive
    assert decide(shop, taken, "done").detail["why"] == "no_positive_evidence"


@pytest.mark.parametrize("make", [in_review, completed])
def test_after_the_decision_it_is_still_kept(shop: Shop, make: Any) -> None:
    """A person, or nobody, needs it then; the state is the one decided."""
    job = make(shop)
    before = shop.job(job)
    late = receive(shop, job, "late-1")
    assert (late.outcome, late.detail["state"]) == ("held_by_other", before["state"])
    assert shop.rows("evidence", kind="late_receipt")[0]["provider_ref"] == "late-1"
    assert shop.job(job) == before


def test_who_never_held_the_job(shop: Shop) -> None:
    """A foreign workflow is refused, an unknown job is a lost claim; neither leaves evidence."""
    job = marked(shop)
    stranger: dict[str, Any] = {"workflow": OTHER, "owner_token": uuid4()}
    assert receive(shop, job, **stranger).outcome == "wrong_role"
    assert receive(shop, job, job_id="gone").outcome == "lost_claim"
    assert shop.rows("evidence") == []
    assert receive(shop, job, owner_token=uuid4()).outcome == "held_by_other"
    assert shop.rows("evidence")[0]["send_no"] == 0


def test_racing_receipts_are_kept_once(racing_shop: Shop) -> None:
    """The worker's retry meets its first call."""
    shop, job = racing_shop, marked(racing_shop)
    answers = race(*[lambda: shop.run("record_receipt", **job.mine, provider_ref="ch_1")] * 6)
    assert sorted(answer.outcome for answer in answers) == ["replay"] * 5 + ["won"]
    assert len(shop.rows("evidence")) == 1
