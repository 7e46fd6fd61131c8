"""retain_until: how long a key lives, and what lengthens it."""

from datetime import timedelta

import pytest

from tests.support.conflicts import decide_open
from tests.support.factories import BLIND, Shop, claimed, enqueued, expire, in_review, order
from tests.support.retention import grow_old


def test_every_attempt_lengthens_a_keys_life(sql_shop: Shop) -> None:
    """Counted from the last possible retry, never from the first attempt."""
    shop = sql_shop
    job = in_review(shop, BLIND)
    grow_old(shop, 400)
    decide_open(shop, "resend", risk_acknowledged=True)
    key = shop.row("idem", job.idem_key)
    (now,) = shop.owner.execute("SELECT clock_timestamp()").fetchone() or ()
    assert (key["last_possible_retry_at"] - now).days >= 2
    assert (key["retain_until"] - now).days >= 30


@pytest.mark.parametrize("operation", ["claim_job", "claim_next_job", "claim_next_jobs"])
def test_every_claim_lengthens_a_keys_life(sql_shop: Shop, operation: str) -> None:
    """A queue that stood still for a year has keys past their life."""
    shop = sql_shop
    enqueued(shop)
    grow_old(shop, 400)
    argument = order() if operation == "claim_job" else {}
    assert shop.run(operation, **argument).outcome == "won"
    (key,) = shop.rows("idem")
    (now,) = shop.owner.execute("SELECT clock_timestamp()").fetchone() or ()
    assert (key["last_possible_retry_at"] - now).days >= 2
    assert (key["retain_until"] - now).days >= 30


@pytest.mark.parametrize(("retry", "replay", "days"), [(2, 30, 40), (30, 2, 40)])
def test_a_key_lives_for_the_longer_horizon_and_a_margin(
    sql_shop: Shop, retry: int, replay: int, days: int
) -> None:
    """Counted from the last moment somebody may still try."""
    shop = sql_shop
    shop.owner.execute(
        "UPDATE providers SET retry_horizon = make_interval(days => %s),"
        " replay_horizon = make_interval(days => %s), retention_margin = interval '10 days'",
        [retry, replay],
    )
    claimed(shop)
    (key,) = shop.rows("idem")
    life = key["retain_until"] - key["last_possible_retry_at"]
    assert timedelta(days=days) <= life < timedelta(days=days, hours=2)


def test_an_attempt_never_shortens_a_keys_life(sql_shop: Shop) -> None:
    """Also where the provider's horizons were shortened since."""
    shop = sql_shop
    job = claimed(shop)
    shop.owner.execute("UPDATE idem SET retain_until = retain_until + interval '900 days'")
    before = shop.row("idem", job.idem_key)["retain_until"]
    expire(shop, job)
    grow_older = "UPDATE idem SET last_possible_retry_at = last_possible_retry_at - interval '9 d'"
    shop.owner.execute(grow_older)
    assert shop.claim().outcome == "won"
    assert shop.row("idem", job.idem_key)["retain_until"] == before
