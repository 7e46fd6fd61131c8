"""claim_job: versions of an effect, and lanes that run one job at a time."""

import pytest

from tests.support.factories import (
    PAYLOAD,
    Held,
    Shop,
    claimed,
    completed,
    enqueued,
    in_review,
    insert,
    make_effect,
    order,
)
from tests.support.races import race, race_rounds

# -- versions ------------------------------------------------------------------------------------


def test_a_newer_version_of_a_replaceable_effect_migrates_once(racing_shop: Shop) -> None:
    """Six claims of version 2 race after version 1 is done: one takes the key over."""
    shop, first = racing_shop, completed(racing_shop)
    answers = race(*[lambda: shop.run("claim_job", **order(effect_version=2))] * 6)
    (won,) = [a for a in answers if a.outcome == "won"]
    assert sorted(a.outcome for a in answers) == ["held_by_other"] * 5 + ["won"]
    assert (won.detail["migrated_from"], won.effect_version) == (1, 2)
    assert won.job_id != first.job_id
    key = shop.row("idem", first.idem_key)
    assert (key["status"], key["effect_version"], key["applied_version"], key["job_id"]) == (
        "pending",
        2,
        1,
        won.job_id,
    )
    assert won.provider_key != shop.job(first)["provider_key"]
    done = shop.run("complete_job", job_id=won.job_id, owner_token=won.owner_token, result={"v": 2})
    assert done.outcome == "won"
    old = shop.claim()
    assert (old.outcome, old.result["v"], old.detail["by_version"]) == ("superseded", 2, 2)
    assert shop.claim(effect_version=2).outcome == "replay"


def test_an_effect_that_adds_is_never_applied_again(shop: Shop) -> None:
    """The stored answer comes back, and the key remembers how far it was carried."""
    make_effect(shop.owner, "credit", kind="add")
    job = completed(shop, "credit")
    for version, carried in ((3, 3), (2, 3)):
        lost = shop.claim("credit", effect_version=version)
        assert (lost.outcome, lost.result["ok"], lost.detail["version"]) == (
            "already_applied",
            1,
            1,
        )
        assert shop.row("idem", job.idem_key)["carried_to_version"] == carried
    assert len(shop.rows("jobs")) == 1


def test_a_newer_version_waits_for_the_older_in_flight(shop: Shop) -> None:
    """Cutover drains; in review it waits for the person too."""
    claimed(shop)
    lost = shop.claim(effect_version=2)
    assert (lost.outcome, lost.detail["reason"]) == ("held_by_other", "older_version_in_flight")
    job = in_review(shop)
    waits = shop.claim("hook", effect_version=2)
    assert (waits.outcome, waits.detail["conflict_id"]) == (
        "in_review",
        shop.rows("conflicts")[0]["id"],
    )
    assert shop.row("idem", job.idem_key)["effect_version"] == 1


def test_an_older_version_is_superseded_while_the_newer_runs(shop: Shop) -> None:
    """It hears the answer that is stored so far."""
    completed(shop)
    assert shop.claim(effect_version=2).outcome == "won"
    late = shop.claim()
    assert (late.outcome, late.result["ok"]) == ("superseded", 1)


def test_the_effects_current_version_counts_where_none_is_named(shop: Shop) -> None:
    """Both workflow versions active at once still make one effect."""
    shop.owner.execute("UPDATE effects SET current_version = 2 WHERE name = 'charge'")
    assert shop.claim().effect_version == 2
    assert shop.claim(effect_version=1).outcome == "superseded"


def test_an_archived_key_is_not_migrated(shop: Shop) -> None:
    """Its stored answer is replayed under whatever version."""
    completed(shop)
    columns = shop.row("idem", "charge:1")
    del columns["waiting_since"]
    shop.owner.execute("DELETE FROM idem")
    insert(shop.owner, "idem_archive", **columns)
    again = shop.claim(effect_version=2)
    assert (again.outcome, again.result["ok"], again.detail) == ("replay", 1, None)
    assert shop.rows("idem") == []


def test_a_newer_version_with_a_new_payload_is_no_mismatch(shop: Shop) -> None:
    """The version says that the content may differ."""
    completed(shop)
    won = shop.claim(effect_version=2, payload={"amount": 50})
    assert won.outcome == "won"
    assert shop.claim(effect_version=2, payload=PAYLOAD).outcome == "payload_mismatch"


# -- lanes ---------------------------------------------------------------------------------------


def _lane(shop: Shop, event: int, lane: str = "customer-9") -> Held:
    return claimed(shop, event=event, serial_key=lane)


def test_a_busy_lane_queues_the_job_and_says_so(shop: Shop) -> None:
    """Nothing is lost: the job waits its turn and can be claimed then."""
    first = _lane(shop, 1)
    lost = shop.claim(event=2, serial_key="customer-9")
    assert (lost.outcome, lost.detail["reason"], lost.detail["job_id"]) == (
        "held_by_other",
        "serial_key_busy",
        lost.job_id,
    )
    waiting = shop.job(lost.job_id)
    assert (waiting["state"], waiting["owner_token"]) == ("queued", None)
    assert shop.claim(event=2).detail["reason"] == "serial_key_busy"
    assert shop.claim(event=3, serial_key="customer-8").outcome == "won"
    assert shop.run("complete_job", **first.mine, result=1).outcome == "won"
    assert shop.claim(event=2).outcome == "won"


def test_a_lane_runs_in_the_order_it_was_entered(shop: Shop) -> None:
    """The second may not overtake the first, even where the first waits for its retry."""
    first = enqueued(shop, event=1, serial_key="lane", run_after="2199-01-01T00:00:00Z")
    second = enqueued(shop, event=2, serial_key="lane")
    assert shop.claim(event=2).detail["reason"] == "serial_key_busy"
    assert shop.claim(event=3, serial_key="lane").detail["reason"] == "serial_key_busy"
    shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp() WHERE id = %s", [first])
    won = shop.claim(event=1)
    assert (won.outcome, won.job_id) == ("won", first)
    assert shop.run("release_job", job_id=first, owner_token=won.owner_token).next == "queued"
    assert shop.claim(event=2).detail["reason"] == "serial_key_busy"
    assert shop.job(second)["state"] == "queued"


@pytest.mark.parametrize("end", ["dead", "review"])
def test_a_job_that_stops_frees_its_lane(shop: Shop, end: str) -> None:
    """A crash on the last attempt must not block the customer for ever."""
    if end == "dead":
        stopped = _lane(shop, 1)
        shop.owner.execute("UPDATE jobs SET attempts = 99")
        shop.run("fail_job", **stopped.mine, error="x", effect_state="not_started")
    else:
        stopped = in_review(shop)
        shop.owner.execute("UPDATE jobs SET serial_key = 'customer-9'")
    assert shop.job(stopped)["state"] == end
    assert shop.claim(event=2, serial_key="customer-9").outcome == "won"


def test_racing_first_claims_of_a_lane_leave_one_at_work(racing_shop: Shop) -> None:
    """Eight different events of one customer at once: one runs, seven wait in the queue."""
    shop = racing_shop

    def racer(who: int):
        return lambda n: (
            shop.run("claim_job", **order(event=f"{n}-{who}", serial_key=f"lane-{n}")).outcome
        )

    for outcomes in race_rounds(15, *[racer(who) for who in range(8)]):
        assert sorted(outcomes) == ["held_by_other"] * 7 + ["won"]
    states = [job["state"] for job in shop.rows("jobs")]
    assert (states.count("claimed"), states.count("queued")) == (15, 105)
