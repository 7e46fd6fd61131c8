"""claim_job: eight connections, one event, one winner; and whoever dies is followed by one."""

from collections import Counter
from typing import Any
from uuid import uuid4

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Held,
    Shop,
    claimed,
    decide,
    expire,
    mark,
    marked,
    order,
    sweep,
)
from tests.support.races import race, race_rounds

ROUNDS = 200
RACERS = 8


def test_eight_claim_the_same_event_two_hundred_times(racing_shop: Shop) -> None:
    """Each time one wins and seven do not; nothing raises, and there is one job per event."""
    shop = racing_shop

    def claim(n: int) -> str:
        return str(shop.run("claim_job", **order(event=n)).outcome)

    rounds = Counter(
        tuple(sorted(Counter(outcomes).items()))
        for outcomes in race_rounds(ROUNDS, *[claim] * RACERS)
    )
    assert rounds == {(("held_by_other", RACERS - 1), ("won", 1)): ROUNDS}
    assert len(shop.rows("jobs")) == len(shop.rows("idem")) == ROUNDS
    assert shop.rows("conflicts") == []
    audited = Counter(row["outcome"] for row in shop.audit.new())
    assert audited == {"won": ROUNDS, "held_by_other": ROUNDS * (RACERS - 1)}


def test_one_of_many_follows_an_expired_claim(racing_shop: Shop) -> None:
    """And the one before can no longer do anything."""
    shop, rounds = racing_shop, 15
    jobs = [claimed(shop, event=n) for n in range(rounds)]

    def reclaim(n: int) -> str:
        return str(shop.run("claim_job", **order(event=n), owner_token=uuid4()).outcome)

    def return_(n: int) -> str:
        return str(shop.run("complete_job", **jobs[n].mine, result=1).outcome)

    def prepare(n: int) -> None:
        expire(shop, jobs[n])

    for *claims, back in race_rounds(rounds, *[reclaim] * 4, return_, between=prepare):
        assert Counter([*claims, back])["won"] == 1
        if back == "won":
            assert set(claims) <= {"replay", "held_by_other"}
        else:
            assert (sorted(claims), back) == (["held_by_other"] * 3 + ["won"], "held_by_other")


def test_racing_resumes_are_all_the_same_claim(racing_shop: Shop) -> None:
    """One token from four connections, and a stranger among them."""
    shop, job = racing_shop, claimed(racing_shop)
    resume = lambda: shop.run("claim_job", **order(), owner_token=job.token)  # noqa: E731 - raced
    stranger = lambda: shop.run("claim_job", **order(), owner_token=uuid4())  # noqa: E731 - raced
    *mine, other = race(*[resume] * 4, stranger)
    assert {(a.outcome, a.version) for a in mine} == {("won", job.version)}
    assert other.outcome == "held_by_other"


def test_a_worker_that_dies_after_its_mark_and_comes_back(shop: Shop) -> None:
    """The whole story: A marks and dies, the sweep takes the row, A returns with its receipt."""
    for effect in (FORCED, HANDLE, BLIND):
        a = marked(shop, effect, "story")
        assert shop.claim(effect, "story", owner_token=uuid4()).outcome == "held_by_other"
        expire(shop, a)
        (taken,) = sweep(shop)
        swept_state = shop.job(a)
        # A comes back: nothing it says changes the row, all of it is kept.
        assert shop.call("mark_sending", **a.mine, idem_key=a.idem_key).outcome == "held_by_other"
        assert shop.call("heartbeat_job", **a.mine).outcome == "held_by_other"
        receipt = shop.call("record_receipt", **a.mine, provider_ref="ref-7")
        done = shop.call("complete_job", **a.mine, result={"ok": 1}, provider_ref="ref-7")
        assert (receipt.outcome, done.outcome) == ("held_by_other", "held_by_other")
        kept = shop.rows("evidence", job_id=a.job_id)
        assert {(row["kind"], row["provider_ref"]) for row in kept} == {("late_receipt", "ref-7")}
        assert shop.job(a) == swept_state
        # What it left lets the sweeper close the row as landed; nobody sends again.
        assert decide(shop, taken, "done").state == "done"
        assert shop.claim(effect, "story").outcome == "replay"


def test_its_own_token_may_finish_as_long_as_nobody_took_the_row(shop: Shop) -> None:
    """Late is not lost."""
    a = marked(shop, BLIND)
    expire(shop, a)
    assert shop.claim(BLIND, owner_token=uuid4()).outcome == "held_by_other"
    assert shop.call("complete_job", **a.mine, result=1).outcome == "won"
    assert sweep(shop) == []


def test_long_work_with_a_beating_heart_is_never_taken(shop: Shop) -> None:
    """Only silence counts, not how long it takes."""
    job = claimed(shop, lease_seconds=60)
    for _ in range(10):
        shop.owner.execute(
            "UPDATE jobs SET claimed_at = claimed_at - interval '45 seconds',"
            " lease_expires_at = lease_expires_at - interval '45 seconds'"
        )
        assert sweep(shop) == []
        assert shop.claim(owner_token=uuid4()).outcome == "held_by_other"
        assert shop.run("heartbeat_job", **job.mine).outcome == "won"
    assert shop.job(job)["attempts"] == 1


def test_two_versions_of_a_workflow_at_once_make_one_effect(racing_shop: Shop) -> None:
    """Versions 1 and 2 of an effect that adds, claimed at the same moment."""
    shop, rounds = racing_shop, 15
    shop.owner.execute("UPDATE effects SET kind = 'add' WHERE name = 'charge'")

    def claim(version: int) -> Any:
        def one(n: int) -> str:
            return str(shop.run("claim_job", **order(event=n), effect_version=version).outcome)

        return one

    for outcomes in race_rounds(rounds, claim(1), claim(2)):
        assert sorted(outcomes) in (["held_by_other", "won"], ["superseded", "won"])
    assert len(shop.rows("jobs")) == rounds


def test_a_reclaimed_job_is_marked_by_its_new_holder_alone(racing_shop: Shop) -> None:
    """The old holder wakes up at the very moment the new one sends."""
    shop, old = racing_shop, marked(racing_shop)
    expire(shop, old)
    won = shop.run("claim_job", **order())
    new = Held(won.job_id, won.idem_key, won.owner_token, won.version, old.event)

    def send(job: Held) -> Any:
        return lambda: shop.run("mark_sending", **job.mine, idem_key=job.idem_key).outcome

    assert race(send(old), send(new)) == ["held_by_other", "won"]
    assert mark(shop, new).send_no == 3
