"""release_sweep_lock: the tick is over; proof of life is its last act."""

from typing import Any
from uuid import uuid4

from tests.support.factories import Shop
from tests.support.races import race

NAME = "sweep"


def release(shop: Shop, token: Any, *, succeeded: bool = True, **more: Any) -> Any:
    """End the tick."""
    given = {"name": NAME, "token": token, "succeeded": succeeded}
    return shop.call("release_sweep_lock", **(given | more))


def held(shop: Shop) -> Any:
    """Run a tick."""
    return shop.run("take_sweep_lock", name=NAME, owner_token=uuid4())


def life(shop: Shop) -> dict[str, Any]:
    """Return the proof of life."""
    (row,) = shop.rows("liveness", name=NAME)
    return row


def test_a_good_tick_frees_the_lock_and_proves_life(shop: Shop) -> None:
    """With its report, its interval and its host."""
    lock = held(shop)
    facts: dict[str, Any] = {"interval_seconds": 30, "jitter_seconds": 5, "host": "host-a"}
    done = release(shop, lock.token, report={"taken": 3}, **facts)
    row = shop.row("sweep_locks", NAME)
    assert (done.outcome, row["token"], row["holder"], row["lease_expires_at"]) == (
        "won",
        None,
        None,
        None,
    )
    assert row["last_finished_at"] is not None
    assert {name: life(shop)[name] for name in facts} == facts
    assert (life(shop)["report"], held(shop).outcome) == ({"taken": 3}, "won")


def test_a_failed_tick_frees_the_lock_but_proves_nothing(shop: Shop) -> None:
    """The last success stays the last success."""
    release(shop, held(shop).token)
    before = life(shop)
    assert release(shop, held(shop).token, succeeded=False).outcome == "won"
    assert life(shop) == before
    assert shop.row("sweep_locks", NAME)["token"] is None


def test_only_the_holder_ends_its_tick(shop: Shop) -> None:
    """Whoever was followed by another one changes nothing."""
    first = held(shop)
    shop.owner.execute("UPDATE sweep_locks SET lease_expires_at = clock_timestamp()")
    second = held(shop)
    lost = release(shop, first.token)
    assert (lost.outcome, lost.detail["fence"]) == ("lost_claim", second.fence)
    assert shop.row("sweep_locks", NAME)["token"] == second.token
    assert shop.rows("liveness", name=NAME) == []


def test_a_second_release_has_lost_it(shop: Shop) -> None:
    """It is over; nobody holds it."""
    lock = held(shop)
    release(shop, lock.token)
    assert release(shop, lock.token).outcome == "lost_claim"
    assert release(shop, uuid4(), name="never-run").outcome == "lost_claim"


def test_a_release_races_the_next_tick(racing_shop: Shop) -> None:
    """The next one gets the lock or skips; either way the lock is consistent."""
    shop, lock = racing_shop, held(racing_shop)
    done, following = race(
        lambda: shop.run("release_sweep_lock", name=NAME, token=lock.token, succeeded=True),
        lambda: shop.run("take_sweep_lock", name=NAME, owner_token=uuid4()),
    )
    row = shop.row("sweep_locks", NAME)
    assert done.outcome == "won"
    assert (following.outcome, row["token"]) in {
        ("won", following.token),
        ("held_by_other", None),
    }
