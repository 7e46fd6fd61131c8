"""A set is carried out by a process that may die anywhere: every item is decided exactly once."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.test import Client

from ledger.errors import NotRecordedError
from ledger.models import AuditEvent, FailedJob
from review.bulk import orders, run
from review.bulk_models import BulkItem, BulkSet
from tests.support import bulk
from tests.support.crowd import crowd, direct
from tests.support.processes import PATIENCE, wait_until

ITEMS, FEWER = 500, 120
KILLED_AFTER = (7, 60, 190, 400)


def started(shop: psycopg.Connection, olga: Client, items: int) -> BulkSet:
    """Start a set, past its canary; a lock ends a second after its holder."""
    policies = {"sweep_lease_s": 1, "bulk_canary": 1}
    for name, value in policies.items():
        shop.execute("UPDATE policies SET value = %s::text::jsonb WHERE name = %s", [value, name])
    bulk.letters(shop, items)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    BulkSet.objects.filter(pk=made.pk).update(canary_seen=True)
    return made


@contextmanager
def runner(owner: psycopg.Connection) -> Iterator[subprocess.Popen[str]]:
    """Run the command that carries sets out."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "bulk", "--loop", "--interval", "0.02"],
        env={**os.environ, "DATABASE_URL": direct(owner)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def over(made: BulkSet) -> int:
    """Count the items that have come to something."""
    return BulkItem.objects.filter(bulk_set=made).exclude(outcome="").count()


def has_ended(made: BulkSet) -> bool:
    """Say whether nothing of it waits and it says so."""
    return BulkSet.objects.filter(pk=made.pk, state="done").exists()


def each_was_decided_once(made: BulkSet) -> None:
    """One decision and one audit row an item, in the person's name, with its place."""
    total = made.total
    assert Counter(bulk.outcomes(made)) == {"taken": total}
    audit = AuditEvent.objects.filter(op="decide_failed_job")
    assert sorted(audit.values_list("outcome", "actor", "reason")) == sorted(
        ("won", "olga", f"looked at them [set {made.pk}, item {number} of {total}]")
        for number in range(1, total + 1)
    )
    assert FailedJob.objects.filter(state="abandoned", lock_version=2).count() == total


def test_killed_four_times_in_the_middle_of_500(shop, olga):
    """A kill -9 wherever it is; the next process goes on, and nothing is done twice."""
    made = started(shop, olga, ITEMS)
    for reached in KILLED_AFTER:
        with runner(shop) as process:
            wait_until(lambda least=reached: over(made) >= least, f"{reached} are over")
            process.send_signal(signal.SIGKILL)
            assert process.wait(PATIENCE) == -signal.SIGKILL
        assert over(made) < ITEMS
    with runner(shop) as process:
        wait_until(lambda: has_ended(made), "it has ended")
        process.terminate()
        assert process.communicate(timeout=PATIENCE)[1] == ""
    each_was_decided_once(made)


def test_six_processes_at_once_decide_each_item_once(shop, olga):
    """Whoever runs it as often as they like: one works, the others skip."""
    made = started(shop, olga, FEWER)
    with crowd("bulk", 0.02, {"DATABASE_URL": direct(shop)}):
        wait_until(lambda: has_ended(made), "it has ended")
    each_was_decided_once(made)


class Killed(BaseException):
    """The process dies here."""


def dying(call: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """Die at a call, before it or after it."""

    def run(*arguments: Any, **more: Any) -> Any:
        if after:
            call(*arguments, **more)
        raise Killed

    return run


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (run, "_begin"),
        (run, "carry_out"),
        (run.answers, "outcome_of"),
        (run.orders, "missing"),
        (run.orders, "finish"),
        (run, "_told_before"),
        (run, "_is_spent"),
        (run, "_tried"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_death_at_any_step_is_made_good(shop, olga, monkeypatch, where, name, after):
    """Each step dies once in every item's turn that reaches it; then everything is as it should."""
    shop.execute("UPDATE policies SET value = '3' WHERE name = 'bulk_canary'")
    bulk.letters(shop, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    with monkeypatch.context() as patch:
        patch.setattr(where, name, dying(getattr(where, name), after=after))
        for _ in range(2):
            try:
                run.run_once()
            except Killed:
                continue
    run.run_once()
    run.run_once()
    assert bulk.outcomes(made) == ["taken"] * 3
    rows = AuditEvent.objects.filter(op="decide_failed_job").values_list("outcome", flat=True)
    assert list(rows) == ["won"] * 3
    made.refresh_from_db()
    assert made.state == "done"


def test_an_answer_that_got_lost_is_found_again(shop, olga, monkeypatch):
    """The database took the decision and went away: the next pass knows it as its own."""
    bulk.letters(shop, 2)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    real = run.carry_out

    def losing(*arguments):
        real(*arguments)
        raise NotRecordedError("the database did not answer")

    with monkeypatch.context() as patch:
        patch.setattr(run, "carry_out", losing)
        with pytest.raises(NotRecordedError):
            run.run_once()
    assert bulk.outcomes(made) == ["", ""]
    run.run_once()
    assert bulk.outcomes(made) == ["taken", "taken"]
    assert AuditEvent.objects.filter(op="decide_failed_job").count() == 2


def test_a_holder_that_comes_back_late_changes_nothing(shop, olga, monkeypatch):
    """It was thought dead and its item was decided for the same set: it counts, once."""
    bulk.letters(shop, 1)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    real = run.carry_out

    def late(*arguments):
        real(*arguments)  # what the next holder did meanwhile
        return real(*arguments)

    monkeypatch.setattr(run, "carry_out", late)
    run.run_once()
    assert bulk.outcomes(made) == ["taken"]
    rows = AuditEvent.objects.filter(op="decide_failed_job").values_list("outcome", flat=True)
    assert list(rows.order_by("id")) == ["won", "already_decided"]


def test_an_order_between_two_items_counts_at_once(shop, olga, monkeypatch):
    """Stop means after the item that is under way."""
    bulk.letters(shop, 4)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    real = run.carry_out

    def stopping(source, row, *rest):
        answer = real(source, row, *rest)
        if over(made) == 1:
            orders.stop(made.pk, "olga stopped it.")
        return answer

    monkeypatch.setattr(run, "carry_out", stopping)
    run.run_once()
    assert bulk.outcomes(made) == ["taken", "taken", "", ""]
