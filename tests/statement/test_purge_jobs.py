"""purge_jobs: a finished job goes long after its key did, and takes nothing with it."""

from typing import Any

import pytest

from tests.support.factories import Shop, buried, completed, in_review, order
from tests.support.races import race
from tests.support.retention import archived, grow_old, let_jobs_grow_old


def _purge(shop: Shop, **more: Any) -> Any:
    """Run one pass and see that every job it dropped left one audit row."""
    shop.audit.skip()
    answer = shop.run("purge_jobs", **more)
    assert [row["op"] for row in shop.audit.new()] == ["purge_jobs"] * answer.n
    return answer


def test_a_job_goes_after_its_key(shop: Shop) -> None:
    """Its evidence, its audit and its key's answer stay."""
    job = archived(shop)
    assert _purge(shop).outcome == "empty"
    let_jobs_grow_old(shop)
    gone = _purge(shop)
    assert (gone.outcome, gone.n, shop.rows("jobs")) == ("won", 1, [])
    assert len(shop.rows("idem_archive", idem_key=job.idem_key)) == 1
    assert len(shop.rows("audit_events", job_id=job.job_id)) > 2
    assert shop.claim().outcome == "replay"


@pytest.mark.parametrize("state", ["live key", "young", "asked about", "reported"])
def test_what_is_still_needed_stays(sql_shop: Shop, state: str) -> None:
    """A live key, a job of yesterday, a question, a dead letter."""
    shop = sql_shop
    if state == "live key":
        completed(shop)
        let_jobs_grow_old(shop, 4000)
    else:
        job = archived(shop)
        let_jobs_grow_old(shop, 29 if state == "young" else 90)
        if state == "asked about":
            shop.run("claim_job", **order() | {"payload": {"amount": 41}})
        if state == "reported":
            shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="x")
    assert (_purge(shop).outcome, len(shop.rows("jobs"))) == ("empty", 1)


@pytest.mark.parametrize("make", [in_review, buried])
def test_what_overtook_a_stopped_job_stays_with_it(sql_shop: Shop, make: Any) -> None:
    """Or nobody would know any more that the stopped one is older."""
    shop = sql_shop
    stopped = make(shop)
    archived(shop, event="later")
    archived(shop, event="aside")
    shop.owner.execute(
        "UPDATE jobs SET serial_key = CASE event ->> 'id' WHEN 'aside' THEN 'aside' ELSE 'lane' END"
    )
    let_jobs_grow_old(shop)
    assert _purge(shop).n == 1
    assert {row["event"]["id"] for row in shop.rows("jobs")} == {1, "later"}
    shop.owner.execute("DELETE FROM jobs WHERE id = %s", [stopped.job_id])
    assert _purge(shop).n == 1


def test_only_as_many_as_asked(sql_shop: Shop) -> None:
    """The next pass goes on."""
    shop = sql_shop
    for n in range(3):
        archived(shop, event=n)
        grow_old(shop)
    let_jobs_grow_old(shop)
    assert [_purge(shop, limit=2).n for _ in range(3)] == [2, 1, 0]


def test_two_passes_at_once_drop_each_job_once(racing_shop: Shop) -> None:
    """Together they drop all of them, each with its audit row."""
    shop = racing_shop
    for n in range(8):
        completed(shop, event=n)
    grow_old(shop)
    assert shop.run("archive_keys").n == 8
    let_jobs_grow_old(shop)
    answers = race(*[lambda: shop.run("purge_jobs", limit=5)] * 3)
    dropped = sum(answer.n for answer in answers)
    assert len(shop.rows("audit_events", op="purge_jobs")) == dropped
    assert len(shop.rows("jobs")) == 8 - dropped
    assert shop.run("purge_jobs").n == 8 - dropped
