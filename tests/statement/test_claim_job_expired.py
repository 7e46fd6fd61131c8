"""claim_job: an expired claim is retaken where that is safe, and left to the sweeper elsewhere."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Shop,
    age,
    claimed,
    expire,
    make_effect,
    marked,
    overtake,
    spend,
)


def test_a_competitor_waits_for_the_lease_and_then_wins(shop: Shop) -> None:
    """Expiry is judged in the claim itself; the sweeper is only a backstop."""
    job = claimed(shop)
    assert shop.claim(owner_token=uuid4()).outcome == "held_by_other"
    expire(shop, job)
    won = shop.claim(owner_token=uuid4())
    assert (won.outcome, won.detail["reclaimed"], won.attempts) == ("won", True, 2)
    late = shop.call("heartbeat_job", **job.mine)
    assert (late.outcome, shop.job(job)["owner_token"]) == ("held_by_other", won.owner_token)
    assert shop.claim(owner_token=job.token).detail["reason"] == "token_spent"


def _forget(shop: Shop, job: Any) -> None:
    age(shop, job, "first_marked_at", 86_400)


@pytest.mark.parametrize(
    ("effect", "make", "change", "outcome"),
    [
        (FORCED, claimed, None, "won"),
        (FORCED, marked, None, "won"),
        (FORCED, marked, _forget, "held_by_other"),
        (FORCED, claimed, spend, "held_by_other"),
        (HANDLE, claimed, None, "held_by_other"),
        (HANDLE, marked, None, "held_by_other"),
        (BLIND, claimed, None, "held_by_other"),
        (BLIND, marked, None, "held_by_other"),
    ],
)
def test_only_what_is_safe_by_construction_is_reclaimed(
    shop: Shop, effect: str, make: Any, change: Any, outcome: str
) -> None:
    """Forced-unique as long as the provider remembers the key; all else is the sweeper's."""
    job = make(shop, effect)
    if change:
        change(shop, job)
    expire(shop, job)
    before = shop.job(job)
    answer = shop.claim(effect)
    after = shop.job(job)
    assert answer.outcome == outcome
    if outcome == "won":
        assert (answer.marker_at, after["marker_at"]) == (None, None)
        assert after["first_marked_at"] == before["first_marked_at"]
        assert answer.provider_key == before["provider_key"]
    else:
        assert answer.detail["reason"] == "expired_waits_for_sweeper"
        assert after == before


@pytest.mark.parametrize(
    ("action", "dominated"), [("requeue", True), ("requeue", False), ("review", True)]
)
def test_unmarked_advisory_claims_come_back_only_where_no_send_can_bypass_its_mark(
    shop: Shop, action: str, dominated: bool
) -> None:
    """It takes both: the provider's switch and the proof of the workflow's deploy."""
    make_effect(shop.owner, "letter", "advisory_blind", provider={"unmarked_action": action})
    shop.owner.execute("UPDATE workflows SET sends_dominated = %s", [dominated])
    expire(shop, claimed(shop, "letter"))
    back = action == "requeue" and dominated
    assert shop.claim("letter").outcome == ("won" if back else "held_by_other")
    expire(shop, marked(shop, "letter", 2))
    assert shop.claim("letter", 2).outcome == "held_by_other"


def test_the_whole_lease_fits_into_what_the_provider_remembers(shop: Shop) -> None:
    """Else the next worker could send when the key is forgotten."""
    job = marked(shop, lease_seconds=600)
    expire(shop, job)
    age(shop, job, "first_marked_at", 86_400 - 500)
    assert shop.claim().detail["reason"] == "expired_waits_for_sweeper"
    shop.owner.execute("UPDATE jobs SET first_marked_at = first_marked_at + interval '5 minutes'")
    assert shop.claim().outcome == "won"


def test_what_a_later_job_of_its_lane_overtook_is_not_retaken(shop: Shop) -> None:
    """A redelivery would send older data after newer; the sweeper asks a person."""
    job = claimed(shop)
    overtake(shop, job)
    expire(shop, job)
    assert shop.claim().detail["reason"] == "expired_waits_for_sweeper"
    shop.owner.execute("UPDATE jobs SET serial_key = 'another' WHERE state = 'done'")
    assert shop.claim().outcome == "won"


def test_a_key_lifetime_alone_makes_no_provider_forced_unique(shop: Shop) -> None:
    """What was written down of a provider that turned out not to look at keys may stay there."""
    settings = {"key_ttl_seconds": 86_400, "key_unlimited": True}
    make_effect(shop.owner, "letter", "advisory_blind", provider=settings)
    expire(shop, marked(shop, "letter"))
    assert shop.claim("letter").detail["reason"] == "expired_waits_for_sweeper"
