"""enqueue_jobs: many events into the queue in one call, each once."""

import random
from collections import Counter
from typing import Any

from tests.support.factories import SHOP, Shop, completed, enqueued, order
from tests.support.races import race_rounds


def _enqueue(shop: Shop, items: list[Any]) -> dict[int, Any]:
    answers = shop.call_many("enqueue_jobs", "enqueue_job", items=items)
    return {answer.item: answer for answer in answers}


def test_each_item_has_its_own_answer(shop: Shop) -> None:
    """New, there already, done, twice in the call, without a key, no object."""
    completed(shop, event=1)
    waiting = enqueued(shop, event=2)
    items = [
        order(event=1),
        order(event=2),
        order(event=3),
        order(event=3),
        order(event=" "),
        7,
        order(event=4, run_after="2199-01-01T00:00:00Z"),
    ]
    found = _enqueue(shop, items)
    assert [found[n].outcome for n in range(7)] == [
        "replay",
        "matched",
        "inserted",
        "matched",
        "missing_key",
        "invalid",
        "inserted",
    ]
    assert (found[0].result["ok"], found[1].job_id) == (1, waiting)
    assert found[2].job_id == found[3].job_id
    assert found[6].run_after.year == 2199


def test_another_payload_for_the_same_event_in_one_call_is_a_mismatch(shop: Shop) -> None:
    """A person sees both."""
    found = _enqueue(shop, [order(), order() | {"payload": {"amount": 41}}])
    assert Counter(a.outcome for a in found.values()) == {"inserted": 1, "payload_mismatch": 1}
    (conflict,) = shop.rows("conflicts")
    assert conflict["state"] == "open"


def test_the_repeat_of_all_matches_each(shop: Shop) -> None:
    """A lost reply doubles nothing."""
    items = [order(event=n) for n in range(5)]
    first, again = _enqueue(shop, items), _enqueue(shop, items)
    assert {a.outcome for a in again.values()} == {"matched"}
    assert {n: a.job_id for n, a in first.items()} == {n: a.job_id for n, a in again.items()}


def test_overlapping_calls_enqueue_each_event_once(racing_shop: Shop) -> None:
    """Any order, the same payloads: no deadlock, one job a key."""
    shop = racing_shop

    def enqueue(seed: int) -> Any:
        def call(round_: int) -> list[Any]:
            items = [order(event=f"{round_}-{n}") | {"payload": {"n": n % 3}} for n in range(15)]
            random.Random(f"{seed} {round_}").shuffle(items)
            return shop.door.call_many("enqueue_jobs", workflow=SHOP, items=items)

        return call

    for answers in race_rounds(8, enqueue(1), enqueue(2), enqueue(3)):
        outcomes = Counter(answer.outcome for rows in answers for answer in rows)
        assert outcomes == {"inserted": 15, "matched": 30}
