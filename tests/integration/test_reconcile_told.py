"""What the reconciler tells: counts of each tick, alerts, and the command."""

import json
import signal

import pytest
from django.core.management import call_command

from ledger.models import Alert, CheckRun, Liveness
from ledger.operations.sweeps import take_sweep_lock
from tests.support.factories import Shop
from tests.support.lab import manage_on
from tests.support.n8n import KEY, FakeN8n
from tests.support.processes import PATIENCE, wait_until
from tests.support.reconciling import everything, reconciled
from tests.support.runs import change, pass_deadline, pass_grace, row, running

pytestmark = pytest.mark.django_db(transaction=True)


def alerts() -> dict[str, tuple[str, str]]:
    """Return severity and state of each alert, by its key."""
    return {
        alert.dedupe_key: (alert.severity, alert.state)
        for alert in Alert.objects.filter(check_name="reconciler").order_by("id")
    }


def test_each_tick_leaves_one_row_of_counts(store: Shop, fake: FakeN8n) -> None:
    """With the key of the instance nowhere."""
    late = running(store)
    pass_deadline(store, late)
    running(store, external_execution_id="8", instance="dead")
    fake.engine.add(7)
    reconciled()
    pass_grace(store, late)
    reconciled()
    first, second = (run.detail for run in CheckRun.objects.order_by("id"))
    counts = ("inspected", "stopped", "terminated", "flagged", "engine_errors", "skipped")
    assert [first[name] for name in counts] == [2, 1, 0, 0, 1, 0]
    assert [second[name] for name in counts] == [2, 0, 1, 0, 1, 0]
    assert "n8n did not answer" in first["unreachable"]["dead"]
    alive = Liveness.objects.get(name="reconciler")
    assert (alive.interval_seconds, alive.report["terminated"]) == (120, 1)
    assert KEY not in json.dumps(everything(), default=str)


def test_one_alert_for_each_instance_out_of_reach(store: Shop, fake: FakeN8n) -> None:
    """A warning, a page once people are needed, over when it answers; one nobody named, too."""
    for number in range(1, 5):
        running(store, external_execution_id=str(number))
    strange = "x" * 200
    running(store, external_execution_id="1", instance=strange)
    fake.fault = 503
    for _ in range(2):
        reconciled()
    firing = ("warn", "firing")
    assert alerts() == {"unreachable:default": firing, f"unreachable:{strange[:150]}": firing}
    store.owner.execute(
        "UPDATE runs SET engine_unknown_since = now() - interval '2 hours'"
        " WHERE external_execution_id = '2'"
    )
    reconciled()
    assert alerts()["unreachable:default"] == ("page", "firing")
    fake.fault = None
    for number in range(1, 5):
        fake.engine.add(number)
    report = reconciled()
    assert alerts()["unreachable:default"] == ("page", "resolved")
    assert report.unreachable == {strange: "LANDED_N8N names no such instance"}


def test_what_runs_on_after_its_end_is_an_alert(store: Shop, fake: FakeN8n) -> None:
    """Not at once; and it is over when the engine is done, too."""
    run_id = running(store)
    fake.engine.add(7)
    assert store.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    reconciled()
    assert (alerts(), row(store, run_id)["engine_status"]) == ({}, "running")
    change(store, run_id, "ended_at = now() - interval '601 seconds'")
    reconciled()
    assert alerts() == {"running_on:default": ("warn", "firing")}
    fake.engine.add(7, "success")
    assert reconciled().confirmed == 1
    assert alerts() == {"running_on:default": ("warn", "resolved")}
    assert row(store, run_id)["status"] == "completed"


# -- the command ---------------------------------------------------------------------------------


def test_the_command_says_what_it_did(
    store: Shop, fake: FakeN8n, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line; another one at work is no error."""
    running(store)
    fake.engine.add(7)
    call_command("reconcile")
    take_sweep_lock(actor="other", name="reconciler")
    call_command("reconcile", "--once")
    assert capsys.readouterr().out.splitlines() == [
        "reconciler: ran inspected=1",
        "reconciler: skipped_busy",
    ]


def test_the_command_goes_on_until_it_is_stopped(store: Shop, fake: FakeN8n) -> None:
    """Without django-q2, and with no instance named: nothing is known of the run."""
    running(store)
    process = manage_on(store.owner, "reconcile", "--loop", "--interval", "0.05")
    try:
        wait_until(lambda: CheckRun.objects.count() > 2, "it ticks")
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, error) == (0, "")
    assert "reconciler: ran inspected=1" in out
