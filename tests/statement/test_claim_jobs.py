"""claim_jobs: many events in one call, each won, lost or refused by itself, and no deadlock."""

import random
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import BLIND, FORCED, HANDLE, OTHER, Shop, claimed, completed, order
from tests.support.races import race_rounds


def _claim(shop: Shop, items: list[Any], **more: Any) -> dict[int, Any]:
    answers = shop.call_many("claim_jobs", "claim_job", items=items, **more)
    return {answer.item: answer for answer in answers}


def test_each_item_has_its_own_answer(shop: Shop) -> None:
    """Whatever becomes of one, the others are what they would be alone."""
    completed(shop, event=1)
    claimed(shop, event=2)
    items = [
        order(event=1),
        order(event=2),
        order(event=3),
        order(event=4, effect=HANDLE),
        order(event=5, effect="nobody knows it"),
        order(event=None),
        {"effect": FORCED, "event": {"id": 6}},
        order(event=7, lease_seconds=1),
        "no object",
        [order(event=8)],
        order(event=9) | {"payload": None},
    ]
    found = _claim(shop, items)
    assert [found[n].outcome for n in range(len(items))] == [
        "replay",
        "held_by_other",
        "won",
        "won",
        "unknown_effect",
        "missing_key",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
        "won",
    ]
    assert found[0].result["ok"] == 1
    assert (found[6].detail["path"], found[8].detail["reason"]) == ("payload", "no_object")
    job = shop.job(found[3].job_id)
    assert (job["state"], job["owner_token"]) == ("claimed", found[3].owner_token)
    assert (job["effect"], found[3].idem_key) == (HANDLE, "mail:4")


def test_a_second_item_of_the_same_key_is_lost_within_the_call(shop: Shop) -> None:
    """It is not the first one's repeat: the caller has two items and one claim."""
    items = [order(event=1), order(event=2), order(event=1), order(event=1, owner_token=uuid4())]
    found = _claim(shop, items)
    assert Counter(a.outcome for a in found.values()) == {"won": 2, "held_by_other": 2}
    assert found[2].detail == found[3].detail == {"reason": "same_call"}
    assert (found[2].owner_token, len(shop.rows("jobs"))) == (None, 2)


def test_each_item_resumes_by_its_token(shop: Shop) -> None:
    """The reply of the whole call was lost."""
    items = [order(event=n, owner_token=str(uuid4())) for n in range(3)]
    first, again = _claim(shop, items), _claim(shop, items)
    for n in range(3):
        assert (again[n].outcome, again[n].detail["resumed"]) == ("won", True)
        assert (again[n].job_id, again[n].version) == (first[n].job_id, first[n].version)


def test_the_caller_may_be_named_once_or_in_each_item(sql_shop: Shop) -> None:
    """The outer name binds the items."""
    shop = sql_shop
    once = shop.door.call_many("claim_jobs", workflow="shop", items=[order(event=1)])
    each = shop.door.call_many("claim_jobs", items=[order(event=2, workflow="shop")])
    both = shop.door.call_many(
        "claim_jobs", workflow=OTHER, items=[order(event=3, workflow="shop")]
    )
    assert [rows[0].outcome for rows in (once, each, both)] == ["won", "won", "wrong_role"]


@pytest.mark.parametrize("count", [0, 501])
def test_one_to_five_hundred_items_fit(shop: Shop, count: int) -> None:
    """More must come in several calls; nothing of these is done."""
    (refused,) = shop.call_many("claim_jobs", items=[order(event=n) for n in range(count)])
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "items")
    assert shop.rows("jobs") == []


def test_jobs_of_one_lane_run_one_at_a_time(shop: Shop) -> None:
    """The first of the call holds the lane, the others are queued behind it."""
    found = _claim(shop, [order(event=n, serial_key="customer 7") for n in range(4)])
    assert Counter(a.outcome for a in found.values()) == {"won": 1, "held_by_other": 3}
    assert {a.detail["reason"] for a in found.values() if a.outcome != "won"} == {"serial_key_busy"}
    assert Counter(job["state"] for job in shop.rows("jobs")) == {"claimed": 1, "queued": 3}


# -- races ---------------------------------------------------------------------------------------


def test_overlapping_calls_claim_each_key_once(racing_shop: Shop) -> None:
    """Three callers, the same events in any order: no deadlock, one winner a key."""
    shop = racing_shop

    def claim(seed: int) -> Any:
        def call(round_: int) -> list[Any]:
            items = [order(event=f"{round_}-{n}") for n in range(15)]
            random.Random(f"{seed} {round_}").shuffle(items)
            return shop.door.call_many("claim_jobs", workflow="shop", items=items)

        return call

    for answers in race_rounds(8, claim(1), claim(2), claim(3)):
        outcomes = Counter(answer.outcome for rows in answers for answer in rows)
        assert outcomes == {"won": 15, "held_by_other": 30}
    assert len(shop.rows("jobs")) == 120


@pytest.mark.parametrize("what", ["bodies", "lanes", "lost keys"])
def test_crossing_calls_never_deadlock(racing_shop: Shop, what: str) -> None:
    """What items have in common besides their key is taken in one order too."""
    shop = racing_shop

    def item(round_: int, caller: int, n: int) -> dict[str, Any]:
        if what == "bodies":
            return order(event=f"{round_}-{caller}-{n}") | {"payload": {"same": [round_, n]}}
        if what == "lanes":
            return order(event=f"{round_}-{caller}-{n}", serial_key=f"lane {n}")
        return order(BLIND, None) | {"payload": {"same": [round_, n]}}

    def many(caller: int) -> Any:
        def call(round_: int) -> list[str]:
            items = [item(round_, caller, n) for n in range(12)]
            random.Random(f"{caller} {round_}").shuffle(items)
            answers = shop.door.call_many("claim_jobs", workflow="shop", items=items)
            return [answer.outcome for answer in answers]

        return call

    def single(round_: int) -> list[str]:
        """Claim events of the first caller, the last one first."""
        return [
            shop.run("claim_job", **item(round_, 1, n) | {"owner_token": uuid4()}).outcome
            for n in range(11, -1, -1)
        ]

    expected = {"missing_key"} if what == "lost keys" else {"won", "held_by_other"}
    for answers in race_rounds(8, many(1), many(2), single):
        assert {outcome for outcomes in answers for outcome in outcomes} <= expected
    if what == "lost keys":
        assert len(shop.rows("conflicts")) == 8 * 12
    else:
        active = Counter(j["active_lane"] for j in shop.rows("jobs") if j["active_lane"])
        assert set(active.values()) <= {1}
