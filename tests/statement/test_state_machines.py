"""States move only where docs/state_machine.md says, whoever tries: the database holds it."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.support.batches import started
from tests.support.factories import (
    BLIND,
    Shop,
    claimed,
    completed,
    enqueued,
    in_review,
    marked,
    swept,
)
from tests.support.letters import of_a_job

REFUSED = "LG409"


def _letter(shop: Shop) -> dict[str, Any]:
    letter = of_a_job(shop)
    named = {"failed_job_id": letter["id"], "lock_version": letter["lock_version"]}
    shop.run("decide_failed_job", **named, actor="ann", reason="no", decision="abandon")
    return letter


def _conflict(shop: Shop) -> dict[str, Any]:
    in_review(shop)
    (conflict,) = shop.rows("conflicts")
    named = {"conflict_id": conflict["id"], "lock_version": conflict["lock_version"]}
    shop.run("decide_conflict", **named, actor="ann", reason="no", decision="abandon")
    return conflict


def _batch(shop: Shop) -> dict[str, Any]:
    batch = started(shop)
    shop.run("finish_batch", **batch.mine, status="complete")
    return {"id": batch.batch_id}


def _run(shop: Shop) -> dict[str, Any]:
    run = shop.run("start_run")
    shop.run("complete_run", run_id=run.run_id, result=1)
    return {"id": run.run_id}


ENDED: dict[tuple[str, str], Callable[[Shop], dict[str, Any]]] = {
    ("jobs", "state"): lambda shop: {"id": completed(shop).job_id},
    ("failed_jobs", "state"): _letter,
    ("conflicts", "state"): _conflict,
    ("batch_runs", "status"): _batch,
    ("runs", "status"): _run,
}
"""For each machine a row that ended."""


@pytest.mark.parametrize(("table", "column"), ENDED)
def test_what_ended_moves_no_more_by_any_hand(table: str, column: str, sql_shop: Shop) -> None:
    """Not even by the owner's, to no state of its machine."""
    row = ENDED[table, column](sql_shop)
    owner = sql_shop.owner
    allowed = owner.execute(
        "SELECT from_state, to_state FROM allowed_transitions WHERE machine = %s", [table]
    ).fetchall()
    (now,) = (
        owner.execute(
            sql.SQL("SELECT {} FROM {} WHERE id = %s").format(
                sql.Identifier(column), sql.Identifier(table)
            ),
            [row["id"]],
        ).fetchone()
        or ()
    )
    elsewhere = {state for move in allowed for state in move} - {now}
    assert len(elsewhere) > 1
    assert not [move for move in allowed if move[0] == now]
    update = sql.SQL("UPDATE {} SET {} = %s WHERE id = %s").format(
        sql.Identifier(table), sql.Identifier(column)
    )
    for state in sorted(elsewhere):
        with pytest.raises(psycopg.Error, match="is no allowed transition") as refused:
            owner.execute(update, [state, row["id"]])
        assert refused.value.sqlstate == REFUSED


@pytest.mark.parametrize("column", ["owner_token", "lease_expires_at"])
def test_a_claim_without_an_end_cannot_exist(column: str, sql_shop: Shop) -> None:
    """Nobody's hand makes one: neither of a job that is held nor of one that waits."""
    held, waiting = claimed(sql_shop), enqueued(sql_shop, event=2)
    without = sql.SQL("UPDATE jobs SET {} = NULL WHERE id = %s").format(sql.Identifier(column))
    claiming = "UPDATE jobs SET state = 'claimed', attempts = attempts + 1 WHERE id = %s"
    for statement, job in ((without, held.job_id), (claiming, waiting)):
        before = sql_shop.job(job)
        with pytest.raises(psycopg.errors.CheckViolation, match="held_iff"):
            sql_shop.owner.execute(statement, [job])
        assert sql_shop.job(job) == before


def test_a_job_is_in_review_exactly_with_its_open_question(sql_shop: Shop) -> None:
    """Neither goes without the other, at the end of whatever transaction."""
    shop = sql_shop
    asked = in_review(shop, BLIND)
    taken = swept(shop, marked(shop, BLIND, 2))
    for statement, job in (
        ("UPDATE jobs SET state = 'review' WHERE id = %s", taken),
        ("UPDATE jobs SET state = 'abandoned' WHERE id = %s", asked),
        ("UPDATE conflicts SET state = 'abandoned', resolved_at = now() WHERE job_id = %s", asked),
    ):
        with pytest.raises(psycopg.Error, match="open questions about its send") as refused:
            shop.owner.execute(statement, [job.job_id])
        assert refused.value.sqlstate == REFUSED
    assert (shop.job(taken.job_id)["state"], shop.job(asked)["state"]) == ("sweeping", "review")


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_events SET reason = 'x'", "DELETE FROM audit_events"]
)
def test_the_audit_changes_for_nobody(statement: str, sql_shop: Shop) -> None:
    """Not for the owner of the table either."""
    completed(sql_shop)
    told = sql_shop.rows("audit_events")
    with pytest.raises(psycopg.Error, match="append-only"):
        sql_shop.owner.execute(statement)
    assert sql_shop.rows("audit_events") == told
