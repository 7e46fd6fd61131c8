"""post_failed_jobs: many failures in one call, each on record by itself."""

import random
from typing import Any

from tests.support.factories import OTHER, Shop, buried, claimed
from tests.support.races import race_rounds


def _failure(n: Any, **more: Any) -> dict[str, Any]:
    return {"payload": {"n": n}, "error_message": "it broke", "item_key": f"i{n}", **more}


def test_each_failure_is_answered_by_itself(shop: Shop) -> None:
    """One that is refused changes nothing about its neighbours."""
    dead = buried(shop)
    items = [
        _failure(1),
        _failure(1),
        _failure(2, job_id=dead.job_id),
        _failure(3, job_id=17),
        "no object",
        _failure(4),
    ]
    answers = shop.call_many("post_failed_jobs", "post_failed_job", items=items)
    found = {a.item: (a.outcome, a.failed_job_id is not None) for a in answers}
    assert found == {
        0: ("inserted", True),
        1: ("replay", True),
        2: ("replay", True),
        3: ("invalid", False),
        4: ("invalid", False),
        5: ("inserted", True),
    }
    assert len(shop.rows("failed_jobs")) == 3


def test_the_repeat_of_all_is_a_replay_of_each(shop: Shop) -> None:
    """A lost reply leaves no second letter."""
    items = [_failure(n) for n in range(4)]
    first = shop.call_many("post_failed_jobs", "post_failed_job", items=items)
    again = shop.call_many("post_failed_jobs", "post_failed_job", items=items)
    assert {a.outcome for a in again} == {"replay"}
    assert {(a.item, a.failed_job_id) for a in first} == {(a.item, a.failed_job_id) for a in again}


def test_one_to_five_hundred_failures_fit(shop: Shop) -> None:
    """More must come in several calls."""
    for items in ([], [_failure(n) for n in range(501)]):
        (refused,) = shop.call_many("post_failed_jobs", items=items)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", "items")


def test_a_strangers_job_is_refused_alone(shop: Shop) -> None:
    """The rest of the call stands."""
    job = claimed(shop)
    items = [_failure(1, job_id=job.job_id), _failure(2)]
    answers = shop.door.call_many("post_failed_jobs", workflow=OTHER, items=items)
    assert {a.item: a.outcome for a in answers} == {0: "wrong_role", 1: "inserted"}


def test_crossing_calls_never_deadlock(racing_shop: Shop) -> None:
    """The same failures in any order, of jobs and of none, from three callers at once."""
    shop = racing_shop
    jobs = [buried(shop, event=n) for n in range(5)]

    def post(seed: int) -> Any:
        def call(number: int) -> Any:
            order = random.Random(f"{seed} {number}")
            items = [_failure(f"{number}-{n}") for n in range(8)]
            items += [_failure(f"{number}-j", job_id=job.job_id) for job in jobs]
            order.shuffle(items)
            return shop.door.call_many("post_failed_jobs", workflow="shop", items=items)

        return call

    for answers in race_rounds(10, post(1), post(2), post(3)):
        outcomes = [answer.outcome for rows in answers for answer in rows]
        assert outcomes.count("inserted") == 8
        assert outcomes.count("replay") == 3 * 13 - 8
    assert len(shop.rows("failed_jobs")) == 5 + 80
