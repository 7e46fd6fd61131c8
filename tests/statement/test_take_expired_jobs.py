"""take_expired_jobs: claims whose lease ran out, and sweeps whose sweeper died, are taken over."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    EFFECTS,
    FORCED,
    HANDLE,
    PAYLOAD,
    SWEEPER,
    Shop,
    age,
    buried,
    claimed,
    completed,
    decide,
    enqueued,
    expire,
    in_review,
    look_up,
    marked,
    settle,
    sweep,
    swept,
)
from tests.support.races import race, race_rounds

MARGIN = timedelta(seconds=5)


def test_a_marked_claim_is_taken_with_every_fact(shop: Shop) -> None:
    """Whom to ask, with which handle, and what the class allows."""
    job = marked(shop, HANDLE)
    taken, row = swept(shop, job), shop.job(job)
    assert (row["state"], row["owner_kind"], row["owner_token"]) == (
        "sweeping",
        "sweeper",
        taken.owner_token,
    )
    assert row["last_owner_token"] == job.token
    assert (taken.version, taken.handle, taken.provider_key, taken.driver) == (
        row["version"],
        row["handle"],
        row["provider_key"],
        "smtp_imap",
    )
    assert (taken.recovery_class, taken.marked, taken.may_redrive, taken.may_retake) == (
        "advisory_handle",
        True,
        False,
        False,
    )
    assert (taken.settled, taken.positive, taken.absent, taken.error_replayed) == (False,) * 4
    assert (taken.attempts_left, taken.send_no, taken.lookups) == (True, 1, 0)
    window = taken.settle_until - row["sweeping_at"]
    assert abs(window - timedelta(seconds=900)) < MARGIN
    assert abs(taken.lease_expires_at - row["sweeping_at"] - timedelta(seconds=60)) < MARGIN


def test_each_taken_job_has_one_audit_row(shop: Shop) -> None:
    """And an empty look has none."""
    shop.audit.skip()
    assert sweep(shop) == []
    assert shop.audit.new() == []
    for n in range(3):
        expire(shop, claimed(shop, event=n))
    shop.audit.skip()
    taken = sweep(shop)
    assert sorted((row["op"], row["outcome"], row["job_id"]) for row in shop.audit.new()) == sorted(
        ("take_expired_jobs", "won", row.job_id) for row in taken
    )
    assert len(taken) == 3


def test_only_expired_leases_are_taken(shop: Shop) -> None:
    """Never a live claim, and never what nobody holds."""
    live = claimed(shop, event=1, lease_seconds=5)
    enqueued(shop, event=2)
    completed(shop, event=3)
    in_review(shop, BLIND, 4)
    buried(shop, event=5)
    assert sweep(shop) == []
    age(shop, live, "claimed_at", 0)
    expire(shop, live)
    assert [row.job_id for row in sweep(shop)] == [live.job_id]


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_unmarked_claim_has_no_settle_window(shop: Shop, effect: str) -> None:
    """There is nothing to settle; only forced-unique may be taken again."""
    taken = swept(shop, claimed(shop, effect))
    assert (taken.marked, taken.settle_until, taken.settled) == (False, None, True)
    assert taken.may_retake == (effect == FORCED)


@pytest.mark.parametrize(
    ("reference", "class_"), [(True, "advisory_handle"), (False, "advisory_blind")]
)
def test_past_the_key_lifetime_forced_unique_counts_as_advisory(
    shop: Shop, reference: bool, class_: str
) -> None:
    """With a handle where it can be looked up by reference."""
    shop.owner.execute(
        "UPDATE providers SET lookup_by_reference = %s WHERE name = 'charge-provider'", [reference]
    )
    job = marked(shop)
    age(shop, job, "first_marked_at", 86_400)
    taken = swept(shop, job)
    assert (taken.recovery_class, taken.may_redrive) == (class_, False)


def test_an_unknown_provider_counts_as_blind(shop: Shop) -> None:
    """The job is not lost for it."""
    job = marked(shop)
    shop.owner.execute("UPDATE jobs SET provider = 'nobody-knows'")
    taken = swept(shop, job)
    assert (taken.recovery_class, taken.may_redrive, taken.driver) == (
        "advisory_blind",
        False,
        None,
    )
    assert decide(shop, taken, "review").state == "review"


def test_another_sweeper_takes_over_without_a_new_settle_window(shop: Shop) -> None:
    """The first one died: the second goes on where it was, and the first is fenced."""
    first = swept(shop, marked(shop, HANDLE))
    look_up(shop, first, "lookup_absent")
    expire(shop, first.job_id)
    (second,) = sweep(shop)
    assert (second.settle_until, second.lookups) == (first.settle_until, 1)
    assert second.owner_token != first.owner_token
    late = decide(shop, first, "wait", look_again_at=datetime.now(UTC))
    assert late.outcome == "held_by_other"
    assert shop.job(first.job_id)["last_owner_token"] != first.owner_token


def test_the_same_token_gets_the_same_jobs(shop: Shop) -> None:
    """A reply was lost: nothing more is taken, nothing is counted twice."""
    for n in range(2):
        expire(shop, claimed(shop, event=n))
    token = uuid4()
    first = sweep(shop, owner_token=token)
    expire(shop, claimed(shop, event=9))
    shop.audit.skip()
    again = sweep(shop, owner_token=token)
    assert [(row.job_id, row.version) for row in again] == [
        (row.job_id, row.version) for row in first
    ]
    assert {row.detail["resumed"] for row in again} == {True}
    assert shop.audit.new() == []


def test_limit_and_provider_narrow_a_pass(shop: Shop) -> None:
    """The longest expired come first."""
    for effect in EFFECTS:
        expire(shop, claimed(shop, effect))
    assert [row.provider for row in sweep(shop, provider="mail-provider")] == ["mail-provider"]
    assert len(sweep(shop, limit=1)) == 1
    assert len(sweep(shop)) == 1


def test_evidence_is_weighed_by_send_and_time(shop: Shop) -> None:
    """Absent counts only after the settle window; found counts at once."""
    taken = swept(shop, marked(shop, HANDLE))
    facts = []
    for kind in ("lookup_absent", None, "lookup_absent", "lookup_found"):
        if kind is None:
            settle(shop, taken)
        else:
            look_up(shop, taken, kind)
        expire(shop, taken.job_id)
        (row,) = sweep(shop)
        facts.append((row.settled, row.absent, row.positive))
    assert facts == [
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    ]


def test_racing_sweepers_take_each_job_once(racing_shop: Shop) -> None:
    """Eight at the same moment, forty jobs."""
    shop = racing_shop
    for n in range(40):
        expire(shop, claimed(shop, event=n))
    shop.audit.skip()

    def drain() -> list[str]:
        mine: list[str] = []
        while len(shop.rows("jobs", state="sweeping")) < 40:
            mine += [row.job_id for row in sweep(shop, limit=7)]
        return mine

    taken = [job for jobs in race(*[drain] * 8) for job in jobs]
    assert (len(taken), len(set(taken))) == (40, 40)
    assert len(shop.audit.new()) == 40


def test_the_sweep_races_a_claim_for_an_expired_job(racing_shop: Shop) -> None:
    """Reclaimed by a worker or taken by the sweeper, never both."""
    shop, jobs = racing_shop, [claimed(racing_shop, event=n) for n in range(15)]

    def reclaim(n: int) -> Any:
        answer = shop.run("claim_job", effect=FORCED, event={"id": n}, payload=PAYLOAD)
        return answer.outcome, (answer.detail or {}).get("reason")

    def recover(_round: int) -> Any:
        return [row.job_id for row in sweep(shop)]

    answers = race_rounds(15, reclaim, recover, between=lambda n: expire(shop, jobs[n]))
    for job, ((outcome, reason), taken) in zip(jobs, answers, strict=True):
        state = shop.job(job)["state"]
        assert (outcome, reason, taken, state) in (
            ("won", None, [], "claimed"),
            ("held_by_other", "sweeping", [job.job_id], "sweeping"),
        )


def test_whoever_is_gone_does_not_keep_its_jobs(shop: Shop) -> None:
    """Only the row's own lease counts; there is no list of workers to be missing from."""
    jobs = [claimed(shop, event=n, worker=f"n8n-{n}") for n in range(5)]
    for job in jobs:
        expire(shop, job)
    assert len(sweep(shop)) == 5
    assert {row["owner_name"] for row in shop.rows("jobs")} <= {f"n8n-{n}" for n in range(5)} | {
        SWEEPER
    }
