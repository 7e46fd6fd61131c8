"""claim_next_jobs: many due jobs at once, each to one worker, lanes in their order."""

from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    OTHER,
    Shop,
    claimed,
    enqueued,
    make_effect,
)
from tests.support.races import race_rounds


def _next(shop: Shop, **more: Any) -> list[Any]:
    """Claim, and see that each job taken left one audit row."""
    return [a for a in shop.call_many("claim_next_jobs", **more) if a.outcome == "won"]


def test_the_longest_due_come_first_under_one_token(shop: Shop) -> None:
    """Each with all a worker needs."""
    ids = [enqueued(shop, event=n) for n in range(4)]
    enqueued(shop, event="later", run_after="2199-01-01T00:00:00Z")
    won = _next(shop, limit=3, worker="w-1", execution_id="81")
    assert [a.job_id for a in won] == ids[:3]
    assert len({a.owner_token for a in won}) == 1
    for answer in won:
        job = shop.job(answer.job_id)
        assert (job["state"], job["owner_token"], job["owner_name"], job["execution_id"]) == (
            "claimed",
            answer.owner_token,
            "w-1",
            "81",
        )
        assert (answer.version, answer.attempts, answer.payload) == (
            job["version"],
            1,
            job["payload"],
        )
        assert answer.lease_expires_at == job["lease_expires_at"]
        key = shop.row("idem", answer.idem_key)
        assert key["last_possible_retry_at"] > job["claimed_at"]
    (last,) = _next(shop)
    assert last.job_id == ids[3]
    (empty,) = shop.call_many("claim_next_jobs")
    assert (empty.outcome, empty.job_id) == ("empty", None)


def test_the_same_token_returns_the_same_jobs(shop: Shop) -> None:
    """A lost reply takes no further ones, and a spent token takes nothing back."""
    for n in range(4):
        enqueued(shop, event=n)
    token = uuid4()
    first = _next(shop, limit=2, owner_token=token)
    shop.audit.skip()
    again = shop.door.call_many("claim_next_jobs", workflow="shop", limit=2, owner_token=token)
    assert shop.audit.new() == []
    assert [(a.job_id, a.version, a.detail) for a in again] == [
        (a.job_id, a.version, {"resumed": True}) for a in first
    ]
    for answer in first:
        shop.run("release_job", job_id=answer.job_id, owner_token=token)
    retaken = _next(shop, owner_token=token)
    assert {a.job_id for a in retaken}.isdisjoint(a.job_id for a in first)


def test_whoever_enqueued_does_not_hold_what_a_worker_took(shop: Shop) -> None:
    """Its execution resumes nothing."""
    enqueued(shop, execution_id="7")
    assert len(_next(shop)) == 1
    back = shop.claim(execution_id="7")
    assert (back.outcome, back.owner_token) == ("held_by_other", None)


@pytest.mark.parametrize("wish", [{"effect": BLIND}, {"provider": "hook-provider"}])
def test_a_worker_may_ask_for_one_kind(shop: Shop, wish: dict[str, str]) -> None:
    """The rest stays where it is."""
    enqueued(shop, FORCED)
    wanted = enqueued(shop, BLIND)
    assert [a.job_id for a in _next(shop, **wish)] == [wanted]


def test_a_worker_takes_its_own_workflows_effects(shop: Shop) -> None:
    """Not another's, not what is delivered otherwise."""
    enqueued(shop)
    make_effect(shop.owner, "native", delivery="native")
    enqueued(shop, "native")
    assert _next(shop, workflow=OTHER) == []
    assert [a.effect for a in _next(shop)] == [FORCED]


# -- lanes ---------------------------------------------------------------------------------------


def test_of_each_lane_only_the_head_is_taken(shop: Shop) -> None:
    """In the order they were enqueued; the next when the first is over."""
    for n in range(3):
        for lane in ("a", "b"):
            enqueued(shop, event=f"{lane}{n}", serial_key=lane)
    enqueued(shop, event="free")
    for n in range(3):
        won = _next(shop)
        keys = {a.idem_key.removeprefix("charge:") for a in won}
        assert keys == {f"a{n}", f"b{n}"} | ({"free"} if n == 0 else set())
        for answer in won:
            shop.run("complete_job", job_id=answer.job_id, owner_token=answer.owner_token, result=1)
    assert _next(shop) == []


def test_a_busy_lane_or_one_that_waits_holds_back_the_later_ones(sql_shop: Shop) -> None:
    """And nobody else."""
    shop = sql_shop
    claimed(shop, event="busy", serial_key="busy")
    enqueued(shop, event=1, serial_key="busy")
    enqueued(shop, event=2, serial_key="waits", run_after="2199-01-01T00:00:00Z")
    enqueued(shop, event=3, serial_key="waits")
    free = enqueued(shop, event=4)
    assert [a.job_id for a in _next(shop)] == [free]


# -- races ---------------------------------------------------------------------------------------


def test_racing_workers_share_the_queue(racing_shop: Shop) -> None:
    """No job twice, no lane twice, none waits for another."""
    shop = racing_shop
    seen: Counter[str] = Counter()

    def refill(round_: int) -> None:
        for job in shop.rows("jobs", state="claimed"):
            mine = {"job_id": job["id"], "owner_token": job["owner_token"]}
            shop.run("complete_job", **mine, result=1)
        for n in range(12):
            lane = f"lane {n % 4}" if n % 2 else None
            more = {"serial_key": lane} if lane else {}
            enqueued(shop, event=f"{round_}-{n}", **more)

    def work(number: int) -> Any:
        def take(_round: int) -> list[str]:
            rows = [shop.run("claim_next_job")]
            if number:
                rows = shop.door.call_many("claim_next_jobs", workflow="shop")
            return [row.job_id for row in rows if row.outcome == "won"]

        return take

    for answers in race_rounds(6, work(0), work(1), work(2), between=refill):
        seen.update(job_id for ids in answers for job_id in ids)
    assert set(seen.values()) == {1}
    active = Counter(job["active_lane"] for job in shop.rows("jobs") if job["active_lane"])
    assert set(active.values()) <= {1}
