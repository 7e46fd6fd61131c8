"""One tick of the reconciler: single flight, and what breaks in the middle."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import Error as DatabaseError
from django.db import connection

from ledger.errors import LedgerError
from ledger.models import CheckRun, Liveness, Run
from ledger.operations.sweeps import take_sweep_lock
from ledger.session_lock import session_lock
from sweeper import reconcile, run_alerts
from sweeper.n8n import client
from sweeper.transport import Limits
from tests.support.factories import Shop
from tests.support.n8n import FakeN8n
from tests.support.processes import PATIENCE, wait_until
from tests.support.reconciling import everything, reconciled
from tests.support.runs import change, pass_grace, row, running

pytestmark = pytest.mark.django_db(transaction=True)


# -- single flight -------------------------------------------------------------------------------


def test_a_tick_beside_another_writes_nothing(store: Shop, fake: FakeN8n) -> None:
    """The lease row is held; the next tick of this process tells how often that was."""
    reconciled()  # tells what was left out before
    running(store)
    fake.engine.add(7, "success")
    taken = take_sweep_lock(actor="other", name="reconciler")
    before = everything()
    for _ in range(2):
        assert reconcile.run_once().outcome == "skipped_busy"
    assert everything() == before
    assert fake.engine.asked == []
    change_lock = "UPDATE sweep_locks SET lease_expires_at = now() WHERE token = %s"
    store.owner.execute(change_lock, [taken.token])
    assert reconciled().skipped == 2
    assert reconciled().skipped == 0


def test_a_tick_beside_a_session_that_holds_the_lock_writes_nothing(
    store: Shop, fake: FakeN8n
) -> None:
    """Not even the lease is taken."""
    running(store)
    fake.engine.add(7, "success")
    with session_lock(reconcile.LOCK):
        before = everything()
        assert reconcile.run_once().outcome == "skipped_busy"
        assert everything() == before
        assert fake.engine.asked == []
    assert reconciled().inspected == 1


def test_a_tick_that_fails_lets_the_next_one_run(
    store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both locks are given back; there is no proof of life."""
    monkeypatch.setattr("sweeper.run_alerts.current", lambda: [{"severity": "loud"}])
    with pytest.raises(Exception, match="record_check answered invalid"):
        reconcile.run_once()
    assert not Liveness.objects.filter(name="reconciler").exists()
    monkeypatch.undo()
    with session_lock(reconcile.LOCK) as free:
        assert free
    fake.engine.add(7)
    assert reconciled().inspected == 0


def test_whatever_is_asked_blocks_nobody(
    store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workflow ends its run while n8n is silent about it; the tick hears that it is over."""
    monkeypatch.setattr(client, "LIMITS", Limits(seconds=PATIENCE))
    run_id = running(store)
    fake.fault = "hang"
    heard: list[Any] = []

    def tick() -> None:
        heard.append(reconcile.run_once())
        connection.close()

    ticking = threading.Thread(target=tick)
    ticking.start()
    wait_until(lambda: fake.engine.asked, "n8n is asked")
    assert store.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    assert heard == []
    fake.closing.set()
    ticking.join(PATIENCE)
    assert (heard[0].outcome, row(store, run_id)["status"]) == ("ran", "completed")


# -- what breaks in the middle -------------------------------------------------------------------


def test_sessions_that_are_ended_in_the_middle(
    store: Shop, fake: FakeN8n, app_sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty times, the program's, the lock's, or both: the tick ends, or the next one does."""
    chance = random.Random(7)
    runs = {running(store, external_execution_id=str(n)): n for n in range(1, 4)}
    for number in runs.values():
        fake.engine.add(number, "running")
    others = "SELECT pid FROM pg_stat_activity WHERE usename = current_user"
    others += " AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start"
    cuts: Counter[int] = Counter()

    def cutting(call: Callable[..., Any]) -> Callable[..., Any]:
        def cut(*asked: Any) -> Any:
            sessions = [pid for (pid,) in app_sql.execute(others).fetchall()]
            for pid in chance.sample(sessions, chance.randint(0, len(sessions))):
                app_sql.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
                cuts[pid] += 1
            return call(*asked)

        return cut

    outcomes: Counter[str] = Counter()
    with monkeypatch.context() as patch:
        patch.setattr(client, "look", cutting(client.look))
        patch.setattr(run_alerts, "unconfirmed", cutting(run_alerts.unconfirmed))
        for _ in range(50):
            try:
                outcomes[reconcile.run_once().outcome] += 1
            except (LedgerError, DatabaseError) as error:
                outcomes[type(error).__name__] += 1
    assert set(outcomes) == {"ran", "OperationalError"}, "none was kept out by one before it"
    assert len(cuts) >= 50
    assert {run["status"] for run in store.rows("runs")} == {"running"}
    for number in runs.values():
        fake.engine.add(number, "error")
    assert reconciled().inspected == 3
    for run_id in runs:
        pass_grace(store, run_id)
    assert reconciled().terminated == 3


def test_one_run_that_fails_is_its_own_affair(
    store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, and the others are settled."""
    for number in range(1, 6):
        running(store, external_execution_id=str(number))
        fake.engine.add(number, "success")
    look = client.look

    def broken(instance: Any, execution_id: str) -> Any:
        if execution_id == "3":
            raise ValueError("a bug")
        return look(instance, execution_id)

    monkeypatch.setattr(client, "look", broken)
    report = reconciled()
    assert (report.inspected, report.failed) == (5, 1)
    assert Run.objects.filter(engine_status="success").count() == 4


def test_a_run_that_moves_while_it_is_asked_about_is_left(
    store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer may be about another execution."""
    run_id = running(store)
    fake.engine.add(7, "success")
    look = client.look

    def moved(*asked: Any) -> Any:
        change(store, run_id, "external_execution_id = '8', lock_version = lock_version + 1")
        return look(*asked)

    monkeypatch.setattr(client, "look", moved)
    assert reconciled().lost == 1
    assert row(store, run_id)["engine_status"] is None


def test_a_silent_instance_does_not_hold_up_the_others(store: Shop, fake: FakeN8n) -> None:
    """It is asked three times; what else runs there is out of reach without being asked."""
    fake.faults = {str(number): "hang" for number in range(1, 21)}
    for number in range(1, 21):
        running(store, external_execution_id=str(number))
    for number in range(30, 35):
        running(store, external_execution_id=str(number), instance="dead")
    started = time.monotonic()
    report = reconciled()
    assert time.monotonic() - started < 10
    assert (report.inspected, report.engine_errors, report.not_asked) == (25, 6, 19)
    assert Run.objects.filter(engine_status="unreachable").count() == 25
    assert set(report.unreachable) == {"default", "dead"}


def test_executions_without_an_answer_do_not_hide_the_others(store: Shop, fake: FakeN8n) -> None:
    """An n8n that fails on some executions is asked about all others within a few ticks."""
    fake.faults = {str(number): 500 for number in range(1, 5)}
    for number in range(1, 13):
        running(store, external_execution_id=str(number))
        fake.engine.add(number, "running")
    seen: set[str] = set()
    for _ in range(12):
        reconciled()
        seen |= set(Run.objects.filter(engine_status="running").values_list("pk", flat=True))
    assert len(seen) == 8


def test_what_was_looked_at_longest_ago_comes_first(
    store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick takes so many; in three of them each of seven has had its turn."""
    monkeypatch.setattr(reconcile, "MOST", 3)
    for number in range(1, 8):
        running(store, external_execution_id=str(number))
        fake.engine.add(number)
    for _ in range(3):
        assert reconciled().inspected == 3
    assert Run.objects.filter(last_checked_at=None).count() == 0
    assert {fake.engine.count(f"GET {number}") for number in range(1, 8)} == {1, 2}


def test_a_tick_ends_in_time(store: Shop, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is alive, and records its look."""
    running(store)
    monkeypatch.setattr(reconcile, "TICK_SECONDS", -1)
    report = reconciled()
    assert (report.inspected, report.out_of_time) == (0, True)
    assert Liveness.objects.filter(name="reconciler").exists()
    assert CheckRun.objects.get().detail["out_of_time"] is True
