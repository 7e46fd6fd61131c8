"""Retention by schedule and by command: keys move, jobs go, signed keys are forgotten."""

import psycopg
import pytest
from django.core.management import call_command

from ledger.operations.sweeps import take_sweep_lock
from sweeper import retention
from sweeper.retention import RetentionReport
from tests.support.doors import PythonDoor
from tests.support.factories import Shop, completed
from tests.support.retention import grow_old, let_jobs_grow_old, sign

pytestmark = pytest.mark.django_db(transaction=True)

COMMANDS = ["archive_keys", "purge_jobs", "purge_archive", "dlq_retry", "relay_outbox"]


@pytest.fixture
def shop(owner_sql: psycopg.Connection) -> Shop:
    """Open the shop."""
    return Shop(PythonDoor(), owner_sql)


def test_a_key_lives_is_archived_and_is_forgotten(shop: Shop) -> None:
    """Tick after tick; the job goes between the two."""
    for n in range(3):
        completed(shop, event=n)
    steps = (retention.archive_keys, retention.purge_jobs, retention.purge_archive)
    assert [step().report for step in steps] == [RetentionReport()] * 3
    grow_old(shop)
    assert retention.archive_keys().report == RetentionReport(3)
    let_jobs_grow_old(shop)
    assert retention.purge_archive().report == RetentionReport()
    sign(shop)
    assert [step().report for step in steps] == [
        RetentionReport(),
        RetentionReport(3),
        RetentionReport(3),
    ]
    assert shop.rows("idem_archive") == []


def test_a_tick_ends_in_time_and_the_next_goes_on(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many keys are due."""
    completed(shop)
    grow_old(shop)
    monkeypatch.setattr(retention, "TICK_SECONDS", -1)
    assert retention.archive_keys().report == RetentionReport(0, out_of_time=True)
    monkeypatch.undo()
    assert retention.archive_keys().report == RetentionReport(1)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_one_tick(
    shop: Shop, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says what it did; another one that runs already is no error."""
    call_command(command)
    take_sweep_lock(actor="other", name=command)
    call_command(command, "--once")
    assert capsys.readouterr().out.splitlines() == [f"{command}: ran", f"{command}: skipped_busy"]


def test_a_command_counts_what_went(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line."""
    completed(shop)
    grow_old(shop)
    call_command("archive_keys")
    assert capsys.readouterr().out == "archive_keys: ran n=1\n"
