"""take_sweep_lock: one runs the tick, until its lease ends; the fence only grows."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from tests.support.factories import Shop
from tests.support.races import race_rounds

NAME = "sweep"


def take(shop: Shop, **more: Any) -> Any:
    """Ask to run the tick."""
    return shop.call("take_sweep_lock", **({"name": NAME} | more))


def run_out(shop: Shop) -> None:
    """Let the holder's lease end a second ago."""
    shop.owner.execute(
        "UPDATE sweep_locks SET lease_expires_at = clock_timestamp() - '1s'::interval"
    )


def test_the_first_holds_the_tick(shop: Shop) -> None:
    """Who, until when, and under which fence."""
    won = take(shop, actor="host-a", lease_seconds=30)
    row = shop.row("sweep_locks", NAME)
    assert (won.outcome, won.fence) == ("won", row["fence"])
    assert (row["holder"], row["token"], row["lease_expires_at"]) == (
        "host-a",
        won.token,
        won.lease_expires_at,
    )
    left = row["lease_expires_at"] - row["acquired_at"]
    assert abs(left - timedelta(seconds=30)) < timedelta(seconds=1)


def test_the_second_skips_its_tick(shop: Shop) -> None:
    """It hears who runs it; a busy look leaves no trace."""
    won = take(shop, actor="host-a")
    busy = take(shop, actor="host-b", owner_token=uuid4())
    assert (busy.outcome, busy.token, busy.lease_expires_at) == (
        "held_by_other",
        None,
        won.lease_expires_at,
    )
    assert (busy.detail["holder"], busy.detail["fence"]) == ("host-a", won.fence)


def test_other_ticks_are_apart(shop: Shop) -> None:
    """Each name has its own lock and fence."""
    assert take(shop).outcome == take(shop, name="promote").outcome == "won"


def test_the_same_token_keeps_it(shop: Shop) -> None:
    """A reply was lost, or the tick needs more time: same fence, later end."""
    token = uuid4()
    first, again = take(shop, owner_token=token), take(shop, owner_token=token)
    assert (again.outcome, again.fence, again.detail["resumed"]) == ("won", first.fence, True)
    assert again.lease_expires_at > first.lease_expires_at


def test_a_dead_holder_is_followed_by_the_next(shop: Shop) -> None:
    """With a higher fence; the old one finds out when it comes back."""
    first = take(shop, owner_token=uuid4())
    run_out(shop)
    second = take(shop, owner_token=uuid4())
    assert (second.outcome, second.fence, second.detail) == ("won", first.fence + 1, None)
    assert take(shop, owner_token=first.token).outcome == "held_by_other"


def test_a_late_holder_that_nobody_followed_goes_on(shop: Shop) -> None:
    """Nothing happened meanwhile, so the fence is the same."""
    first = take(shop, owner_token=uuid4())
    run_out(shop)
    again = take(shop, owner_token=first.token)
    assert (again.outcome, again.fence) == ("won", first.fence)


def test_after_a_release_the_fence_has_grown(shop: Shop) -> None:
    """Also for the same token: it is another tick."""
    first = take(shop, owner_token=uuid4())
    shop.run("release_sweep_lock", name=NAME, token=first.token, succeeded=True)
    again = take(shop, owner_token=first.token)
    assert (again.outcome, again.fence) == ("won", first.fence + 1)


def test_racing_ticks_run_one_at_a_time(racing_shop: Shop) -> None:
    """Six reconcilers, fifteen ticks: one holder each, and the fence counts them."""
    shop, rounds = racing_shop, 15

    def tick(_round: int) -> Any:
        return shop.run("take_sweep_lock", name=NAME, lease_seconds=60)

    fences = []
    for answers in race_rounds(rounds, *[tick] * 6, between=lambda _round: run_out(shop)):
        (won,) = [answer for answer in answers if answer.outcome == "won"]
        assert sorted(answer.outcome for answer in answers) == ["held_by_other"] * 5 + ["won"]
        fences.append(won.fence)
    assert fences == list(range(fences[0], fences[0] + rounds))
    assert len(shop.audit.new()) == rounds
