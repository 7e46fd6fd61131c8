"""archive_keys: a key past its life moves with its answer, and is never claimed a second time."""

from typing import Any

import pytest

from tests.support.conflicts import decide_open, stale_version
from tests.support.factories import (
    Shop,
    buried,
    claimed,
    completed,
    enqueued,
    in_review,
    order,
    respecify,
)
from tests.support.letters import of_an_event
from tests.support.records import Office
from tests.support.retention import archived, grow_old


def _archive(shop: Shop, **more: Any) -> Any:
    """Run one pass and see that every key it moved left one audit row."""
    shop.audit.skip()
    answer = shop.run("archive_keys", **more)
    rows = shop.audit.new()
    assert [row["op"] for row in rows] == ["archive_keys"] * answer.n
    assert {row["row_count"] for row in rows} <= {1}
    return answer


# -- the winning side ----------------------------------------------------------------------------


def test_a_key_past_its_life_moves_with_its_answer(shop: Shop) -> None:
    """Nothing is lost on the way, and a late replay hears the same."""
    jobs = [completed(shop, event=n) for n in range(3)]
    live = {row["idem_key"]: row for row in shop.rows("idem")}
    assert _archive(shop).outcome == "empty"
    grow_old(shop)
    moved = _archive(shop)
    assert (moved.outcome, moved.n, shop.rows("idem")) == ("won", 3, [])
    kept = {row["idem_key"]: row for row in shop.rows("idem_archive")}
    assert set(kept) == set(live)
    for key, row in kept.items():
        same = ("effect", "outcome", "job_id", "payload_hash", "result", "http_status", "status")
        assert [row[name] for name in same] == [live[key][name] for name in same]
    for n, job in enumerate(jobs):
        late = shop.claim(event=n)
        assert (late.outcome, late.result["ok"], late.job_id) == ("replay", 1, job.job_id)
    assert (shop.rows("idem"), len(shop.rows("jobs"))) == ([], 3)


def test_the_oldest_go_first_and_only_as_many_as_asked(sql_shop: Shop) -> None:
    """The next pass goes on."""
    shop = sql_shop
    for n in range(4):
        completed(shop, event=n)
        grow_old(shop, 40)
    assert _archive(shop, limit=3).n == 3
    (left,) = shop.rows("idem")
    assert left["idem_key"] == "charge:3"
    assert _archive(shop, limit=3).n == 1


# -- what is held back ---------------------------------------------------------------------------


def _pending(shop: Shop) -> None:
    claimed(shop)


def _queued(shop: Shop) -> None:
    enqueued(shop)


def _asked(shop: Shop) -> None:
    completed(shop)
    assert shop.run("claim_job", **order() | {"payload": {"amount": 41}}).outcome == (
        "payload_mismatch"
    )


def _result_asked(shop: Shop) -> None:
    job = completed(shop)
    answer = shop.run("complete_job", **job.mine, result={"ok": 2})
    assert answer.outcome == "result_mismatch"


def _reported(shop: Shop) -> None:
    job = completed(shop)
    shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="afterwards")


def _reported_by_event(shop: Shop) -> None:
    completed(shop)
    of_an_event(shop)


def _reported_by_event_of_a_job_nobody_knows(shop: Shop) -> None:
    completed(shop)
    of_an_event(shop, job_id="gone")


def _reported_under_an_older_specification(shop: Shop) -> None:
    completed(shop)
    respecify(shop, "id", "kind")
    of_an_event(shop, event_more={"kind": "x"})


def _reported_of_an_earlier_version(shop: Shop) -> None:
    job = completed(shop)
    newer = shop.run("claim_job", **order(), effect_version=2)
    shop.run("complete_job", job_id=newer.job_id, owner_token=newer.owner_token, result={"ok": 2})
    shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="afterwards")


@pytest.mark.parametrize(
    "make",
    [
        _pending,
        _queued,
        in_review,
        buried,
        _asked,
        _result_asked,
        _reported,
        _reported_by_event,
        _reported_by_event_of_a_job_nobody_knows,
        _reported_under_an_older_specification,
        _reported_of_an_earlier_version,
    ],
    ids=lambda make: make.__name__.strip("_"),
)
def test_what_something_still_needs_stays(sql_shop: Shop, make: Any) -> None:
    """A key in use, a question about it, a dead letter of its job or of its event."""
    shop = sql_shop
    make(shop)
    before = len(shop.rows("idem"))
    grow_old(shop)
    assert (_archive(shop).outcome, len(shop.rows("idem"))) == ("empty", before)


def test_it_goes_once_its_dead_letter_is_over(sql_shop: Shop) -> None:
    """However the letter ends; a letter of another event never held it."""
    shop = sql_shop
    for event in (1, 2):
        completed(shop, event=event)
    letter = of_an_event(shop)
    grow_old(shop)
    assert _archive(shop).n == 1
    answer = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (answer.outcome, answer.detail["entered"]) == ("already_decided", "replay")
    assert _archive(shop).n == 1


def test_it_goes_once_the_question_is_decided(sql_shop: Shop) -> None:
    """Overdue and held, then free."""
    shop = sql_shop
    _asked(shop)
    grow_old(shop)
    decide_open(shop, "keep")
    assert _archive(shop).n == 1


def test_an_unfinished_job_holds_a_key_that_is_called_done(sql_shop: Shop) -> None:
    """Whoever called it so: a job without its key could be sent a second time."""
    shop = sql_shop
    completed(shop)
    enqueued(shop, event=2)
    shop.owner.execute("UPDATE idem SET status = 'done', outcome = 'success', done_at = claimed_at")
    grow_old(shop)
    assert _archive(shop).n == 1
    assert [row["idem_key"] for row in shop.rows("idem")] == ["charge:2"]


def test_a_write_that_may_still_come_keeps_its_key(sql_office: Office) -> None:
    """A person had it sent again, and nobody did so far."""
    conflict = stale_version(sql_office)
    assert sql_office.decide(conflict, "resend").outcome == "won"
    grow_old(sql_office, 400)
    _archive(sql_office)
    assert [row["status"] for row in sql_office.rows("idem")] == ["pending"]


def test_an_archived_key_asked_again_with_another_payload_goes_to_a_person(shop: Shop) -> None:
    """A mismatch is a mismatch however late."""
    archived(shop)
    late = shop.call("claim_job", **order() | {"payload": {"amount": 41}})
    assert (late.outcome, len(shop.rows("conflicts"))) == ("payload_mismatch", 1)
    assert (shop.rows("idem"), len(shop.rows("idem_archive"))) == ([], 1)
