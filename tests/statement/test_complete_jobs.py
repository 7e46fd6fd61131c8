"""complete_jobs: many results in one call, each stored once."""

import random
from collections import Counter
from typing import Any
from uuid import uuid4

from tests.support.factories import (
    BLIND,
    SHOP,
    Held,
    Shop,
    claimed,
    completed,
    expire,
    in_review,
    marked,
)
from tests.support.races import race_rounds


def _complete(shop: Shop, items: list[Any]) -> dict[int, Any]:
    answers = shop.call_many("complete_jobs", "complete_job", items=items)
    return {answer.item: answer for answer in answers}


def _done(job: Held, result: Any = None, **more: Any) -> dict[str, Any]:
    return {**job.mine, "result": result or {"ok": 1}, **more}


def test_each_item_has_its_own_answer(shop: Shop) -> None:
    """Stored, there already, another result, lost, in review, no such job."""
    mine, done = marked(shop, event=1), completed(shop, event=2)
    lost = claimed(shop, event=3)
    expire(shop, lost)
    shop.claim(event=3)
    asked = in_review(shop, BLIND, 4)
    items = [
        _done(mine),
        _done(mine),
        _done(done),
        _done(done, {"ok": 2}),
        _done(lost),
        _done(asked),
        {"job_id": "nothing", "owner_token": uuid4(), "result": 1},
        {"job_id": mine.job_id},
        None,
    ]
    found = _complete(shop, items)
    assert [found[n].outcome for n in range(len(items))] == [
        "won",
        "replay",
        "replay",
        "result_mismatch",
        "held_by_other",
        "in_review",
        "lost_claim",
        "invalid",
        "invalid",
    ]
    assert shop.job(mine)["state"] == "done"
    assert found[4].detail["evidence_id"] is not None


def test_the_repeat_of_all_is_a_replay_of_each(shop: Shop) -> None:
    """A lost reply stores nothing again."""
    items = [_done(marked(shop, event=n), {"n": n}) for n in range(4)]
    assert {a.outcome for a in _complete(shop, items).values()} == {"won"}
    again = _complete(shop, items)
    assert {n: (a.outcome, a.result["n"]) for n, a in again.items()} == {
        n: ("replay", n) for n in range(4)
    }


def test_overlapping_calls_complete_each_job_once(racing_shop: Shop) -> None:
    """Any order, large results in common: no deadlock, one winner a job."""
    shop = racing_shop
    held: dict[int, list[Held]] = {}

    def make(round_: int) -> None:
        held[round_] = [claimed(shop, event=f"{round_}-{n}") for n in range(8)]

    def complete(seed: int) -> Any:
        def call(round_: int) -> list[Any]:
            items = [
                _done(job, {"n": n % 3, "text": "x" * 70_000}) for n, job in enumerate(held[round_])
            ]
            random.Random(f"{seed} {round_}").shuffle(items)
            return shop.door.call_many("complete_jobs", workflow=SHOP, items=items)

        return call

    for answers in race_rounds(4, complete(1), complete(2), complete(3), between=make):
        outcomes = Counter(answer.outcome for rows in answers for answer in rows)
        assert outcomes == {"won": 8, "replay": 16}
