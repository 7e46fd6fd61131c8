"""promote_conflicts: what waits longer than it should becomes visible in the queue."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.factories import (
    BLIND,
    SHOP,
    Shop,
    age,
    claimed,
    completed,
    enqueued,
    in_review,
    insert,
)
from tests.support.races import race

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def promote(shop: Shop, **more: Any) -> Any:
    """Run the tick, without looking at the audit: it owes one row per thing it shows."""
    return shop.run("promote_conflicts", **more)


def write_key(shop: Shop, key: str, **columns: Any) -> None:
    """Make the key of a write that lost."""
    insert(shop.owner, "idem", idem_key=key, workflow=SHOP, claimed_at=LONG_AGO, **columns)


def detected(shop: Shop, key: str | None, dedupe: str, minutes: float = 11) -> int:
    """Make a loss whose writer did not come back for that long."""
    insert(
        shop.owner,
        "conflicts",
        kind="stale_version",
        state="detected",
        workflow=SHOP,
        idem_key=key,
        dedupe_key=dedupe,
        attempted={"plan": "pro"},
        expected_hash="a",
        actual_hash="b",
        target="customers",
        record_key="1",
        version_read="1",
        created_at=datetime.now(UTC) - timedelta(minutes=minutes),
    )
    return int(shop.rows("conflicts", dedupe_key=dedupe)[0]["id"])


def states(shop: Shop) -> dict[int, str]:
    """Return the state of each conflict."""
    return {row["id"]: row["state"] for row in shop.rows("conflicts")}


def test_nothing_late_is_empty(shop: Shop) -> None:
    """Fresh losses, fresh jobs and a job for later are left alone."""
    detected(shop, None, "fresh", minutes=9)
    enqueued(shop, event=1)
    enqueued(shop, event=2, run_after="2199-01-01T00:00:00Z")
    completed(shop, event=3)
    shop.audit.skip()
    assert promote(shop).outcome == "empty"
    assert shop.audit.new() == []


def test_a_loss_whose_writer_vanished_opens(shop: Shop) -> None:
    """With its key in review, announced once, on record once."""
    write_key(shop, "w")
    conflict = detected(shop, "w", "d")
    shop.audit.skip()
    answer = promote(shop)
    assert (answer.outcome, answer.n, answer.opened, answer.stamped) == ("won", 1, 1, 0)
    (row,) = shop.rows("conflicts")
    assert (row["state"], row["waiting_since"] is not None) == ("open", True)
    assert shop.row("idem", "w")["status"] == "review"
    assert [(a["op"], a["outcome"], a["conflict_id"]) for a in shop.audit.new()] == [
        ("promote_conflicts", "won", conflict)
    ]
    assert [message["topic"] for message in shop.rows("outbox")] == ["review.opened"]
    assert promote(shop).outcome == "empty"


def test_earlier_losses_of_the_same_write_fold_into_one(shop: Shop) -> None:
    """A person sees one question for one write."""
    write_key(shop, "w")
    oldest, newest = detected(shop, "w", "d1", 20), detected(shop, "w", "d2", 15)
    assert promote(shop).opened == 1
    assert states(shop) == {oldest: "open", newest: "folded"}
    assert shop.rows("conflicts", id=newest)[0]["reason"] == f"folded into conflict {oldest}"


def test_a_loss_beside_an_open_question_does_not_open(shop: Shop) -> None:
    """One open question per key."""
    write_key(shop, "w", status="review")
    first = detected(shop, "w", "d1")
    shop.owner.execute("UPDATE conflicts SET state = 'open'")
    second = detected(shop, "w", "d2")
    assert promote(shop).outcome == "empty"
    assert states(shop) == {first: "open", second: "detected"}


def test_losses_of_stores_outside_open_too(shop: Shop) -> None:
    """They have no key here."""
    conflicts = [detected(shop, None, f"d{n}") for n in range(3)]
    assert promote(shop, limit=2).opened == 2
    assert promote(shop, limit=2).opened == 1
    assert states(shop) == dict.fromkeys(conflicts, "open")


def test_a_due_job_nobody_takes_is_shown_until_it_moves(shop: Shop) -> None:
    """Any move of the row takes the stamp away."""
    job_id = enqueued(shop)
    age(shop, job_id, "run_after", 3601)
    shop.audit.skip()
    assert promote(shop).stamped == 1
    assert [(row["op"], row["job_id"]) for row in shop.audit.new()] == [
        ("promote_conflicts", job_id)
    ]
    stamped = shop.job(job_id)["waiting_since"]
    assert promote(shop).outcome == "empty"
    assert shop.job(job_id)["waiting_since"] == stamped is not None
    assert shop.run("claim_next_job").job_id == job_id
    assert shop.job(job_id)["waiting_since"] is None


def test_a_write_key_nobody_finishes_is_shown(shop: Shop) -> None:
    """Not one that has a job or a loss of its own."""
    claimed(shop)
    shop.owner.execute("UPDATE idem SET claimed_at = %s", [LONG_AGO])
    write_key(shop, "alone")
    write_key(shop, "lost")
    detected(shop, "lost", "d", minutes=1)
    assert promote(shop).stamped == 1
    waiting = {row["idem_key"]: row["waiting_since"] is not None for row in shop.rows("idem")}
    assert waiting == {"charge:1": False, "alone": True, "lost": False}


def test_an_overdue_key_that_a_question_holds_is_shown(shop: Shop) -> None:
    """It cannot be archived before somebody answers."""
    completed(shop)
    assert shop.claim(payload=1).outcome == "payload_mismatch"
    shop.owner.execute(
        "UPDATE idem SET last_possible_retry_at = %s, retain_until = %s", [LONG_AGO, LONG_AGO]
    )
    assert promote(shop).stamped == 1
    assert shop.row("idem", "charge:1")["waiting_since"] is not None


def test_a_key_in_review_is_no_item_of_its_own(shop: Shop) -> None:
    """Its conflict is."""
    in_review(shop, BLIND)
    shop.owner.execute("UPDATE idem SET claimed_at = %s", [LONG_AGO])
    assert promote(shop).outcome == "empty"


def test_a_batch_that_stalled_or_failed_is_shown(shop: Shop) -> None:
    """Unless somebody acknowledged it."""
    past, future = LONG_AGO, datetime(2199, 1, 1, tzinfo=UTC)
    for name, columns in {
        "stalled": {"status": "running", "lease_expires_at": past},
        "running": {"status": "running", "lease_expires_at": future},
        "failed": {"status": "failed"},
        "known": {"status": "failed", "acked_at": past},
    }.items():
        insert(shop.owner, "batch_runs", workflow_name=name, **columns)
    assert promote(shop).stamped == 2
    assert {row["workflow_name"] for row in shop.rows("batch_runs") if row["waiting_since"]} == {
        "stalled",
        "failed",
    }


def test_racing_ticks_open_each_loss_once(racing_shop: Shop) -> None:
    """Single flight is a courtesy here, not what keeps it right."""
    shop = racing_shop
    for n in range(12):
        write_key(shop, f"w{n}")
        detected(shop, f"w{n}", f"d{n}")
        age(shop, enqueued(shop, event=n), "run_after", 3601)
    shop.audit.skip()
    answers = race(*[lambda: promote(shop)] * 4)
    assert sum(answer.opened for answer in answers) == 12
    assert sum(answer.stamped for answer in answers) == 12
    assert len(shop.audit.new()) == 24
    assert len(shop.rows("outbox")) == 12
