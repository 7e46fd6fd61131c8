"""A key in the human queue leaves it with the first thing that happens to it."""

import psycopg
import pytest

from ledger.operations.records import WrittenFields
from tests.support import desk, factories
from tests.support.doors import Door
from tests.support.factories import Shop

KEY = "write:customers:form-intake:evt_1#customers/1002"


@pytest.fixture
def shop(sql_door: Door, owner_sql: psycopg.Connection) -> Shop:
    """Give the shop with a table that two workflows fight over."""
    desk.open_shop(owner_sql)
    return Shop(sql_door, owner_sql)


def queue(shop: Shop) -> set[tuple[str, str]]:
    """List what waits for a person."""
    return set(shop.owner.execute("SELECT source, item_id FROM review_queue").fetchall())


def lose(shop: Shop, changes: str = "phone") -> WrittenFields:
    """Lose a write, whatever revision the record is at."""
    revision = desk.customer(shop.owner)["revision"]
    won = desk.write(desk.BILLING, f"b{revision}", revision, plan=f"p{revision}")
    assert won.outcome == "won", won
    return desk.write(desk.FORM, "evt_1", revision, **{changes: "1"})


def resent(shop: Shop) -> None:
    """Lose a write three times and have a person resend it, so that its key is pending alone."""
    for _ in range(3):
        lost = lose(shop)
    decided = shop.run(
        "decide_conflict",
        conflict_id=lost.conflict_id,
        lock_version=1,
        actor="anna",
        decision="resend",
        reason="try again",
    )
    assert decided.outcome == "won", decided


def two_hours_pass(shop: Shop) -> None:
    """Let a pending key grow old, and the decision about it."""
    shop.owner.execute("UPDATE idem SET claimed_at = claimed_at - interval '2 hours'")
    shop.owner.execute(
        "UPDATE conflicts SET resolved_at = resolved_at - interval '2 hours'"
        " WHERE resolved_at IS NOT NULL"
    )


def test_a_resent_write_is_given_its_time(shop: Shop) -> None:
    """The time counts from the decision, not from the first attempt days ago."""
    resent(shop)
    shop.owner.execute("UPDATE idem SET claimed_at = claimed_at - interval '2 hours'")
    assert shop.run("promote_conflicts").outcome == "empty"
    two_hours_pass(shop)
    assert shop.run("promote_conflicts").stamped == 1
    assert queue(shop) == {("key", KEY)}


def test_a_key_whose_writer_came_back_waits_no_longer(shop: Shop) -> None:
    """Its loss is counted again, and in the end it is the conflict that waits, not both."""
    resent(shop)
    two_hours_pass(shop)
    shop.run("promote_conflicts")
    assert lose(shop).conflict_state == "detected"
    assert queue(shop) == set()
    lose(shop)
    opened = lose(shop)
    assert queue(shop) == {("conflict", str(opened.conflict_id))}


def test_a_key_that_a_question_held_waits_no_longer_when_it_is_answered(shop: Shop) -> None:
    """It only waits for the archive, which is nobody's work."""
    factories.completed(shop)
    mismatch = shop.claim(payload=1).detail["conflict_id"]
    shop.owner.execute(
        "UPDATE idem SET last_possible_retry_at = t, retain_until = t"
        " FROM (SELECT clock_timestamp() - interval '1 day') past (t)"
    )
    assert shop.run("promote_conflicts").stamped == 1
    assert queue(shop) == {("conflict", str(mismatch)), ("key", "charge:1")}
    shop.run(
        "decide_conflict",
        conflict_id=mismatch,
        lock_version=1,
        actor="anna",
        decision="keep",
        reason="the first was right",
    )
    assert queue(shop) == set()


def test_a_held_key_that_a_newer_version_takes_over_waits_no_longer(shop: Shop) -> None:
    """It is being worked on."""
    factories.completed(shop)
    mismatch = shop.claim(payload=1).detail["conflict_id"]
    shop.owner.execute(
        "UPDATE idem SET last_possible_retry_at = t, retain_until = t"
        " FROM (SELECT clock_timestamp() - interval '1 day') past (t)"
    )
    shop.run("promote_conflicts")
    assert shop.claim(effect_version=2).outcome == "won"
    assert queue(shop) == {("conflict", str(mismatch))}
