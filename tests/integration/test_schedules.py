"""Schedules owned by code, and what each of them runs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.models import Schedule

from ledger.models import AuditSeal, Liveness
from ledger.operations.sweeps import take_sweep_lock
from sweeper import tasks
from sweeper.schedules import ENTRIES, sync_schedules
from sweeper.ticks import jitter

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> dict[str, dict[str, Any]]:
    """Read the table of schedules."""
    return {row["name"]: row for row in Schedule.objects.values()}


def test_the_table_says_what_the_code_says() -> None:
    """Every entry is there once, due at once, for ever, under a function that exists."""
    sync_schedules()
    assert set(rows()) == {entry.name for entry in ENTRIES}
    for row in rows().values():
        assert callable(import_string(row["func"]))
        assert (row["repeats"], row["schedule_type"], row["args"]) == (-1, "I", None)
        assert row["next_run"] <= timezone.now()


def test_a_right_schedule_keeps_its_next_run() -> None:
    """Looking again and again does not run anything more often."""
    sync_schedules()
    soon = timezone.now() + timedelta(seconds=40)
    Schedule.objects.update(next_run=soon)
    sync_schedules()
    assert {row["next_run"] for row in rows().values()} == {soon}


@pytest.mark.parametrize(
    "broken",
    [
        {"func": "os.system"},
        {"args": "__import__('os')"},
        {"kwargs": "{"},
        {"schedule_type": "C", "cron": "not a cron"},
        {"repeats": 0},
        {"minutes": 5_000},
        {"cluster": "elsewhere"},
        {"hook": "os.system"},
        {"next_run": None},
        {"next_run": timezone.now() + timedelta(days=300)},
        {"next_run": timezone.now() - timedelta(days=300)},
        {"intended_date_kwarg": "when"},
    ],
    ids="-".join,
)
def test_a_broken_row_is_put_right(broken: dict[str, Any]) -> None:
    """One malformed row would stop every schedule."""
    sync_schedules()
    right = rows()["landed.sweep"]
    Schedule.objects.filter(name="landed.sweep").update(**broken)
    sync_schedules()
    repaired = rows()["landed.sweep"]
    assert repaired | {"next_run": None} == right | {"next_run": None}
    assert abs(repaired["next_run"] - timezone.now()) < timedelta(minutes=1)


def test_rows_nobody_wrote_here_are_removed() -> None:
    """A row can name any function, so only those of the code stay."""
    sync_schedules()
    Schedule.objects.create(name="mine", func="os.system", args="'true'")
    Schedule.objects.create(name="landed.sweep", func="sweeper.tasks.sweep")
    Schedule.objects.create(name=None, func="os.system")
    sync_schedules()
    assert Schedule.objects.count() == len(ENTRIES)


def test_an_interval_below_a_minute_is_kept(owner_sql: psycopg.Connection) -> None:
    """The scheduler counts in minutes; a run it put later than the interval comes earlier again."""
    owner_sql.execute("UPDATE policies SET value = '4' WHERE name = 'sweep_interval_s'")
    try:
        assert sync_schedules() == 4
        Schedule.objects.update(next_run=timezone.now() + timedelta(seconds=60))
        sync_schedules()
    finally:
        owner_sql.execute("UPDATE policies SET value = '60' WHERE name = 'sweep_interval_s'")
    assert rows()["landed.sweep"]["next_run"] <= timezone.now() + timedelta(seconds=4)
    assert rows()["landed.promote"]["next_run"] > timezone.now() + timedelta(seconds=50)


def test_the_interval_is_the_policys(owner_sql: psycopg.Connection) -> None:
    """One row is read by the schedule and by the proof of life a watcher judges."""
    owner_sql.execute("UPDATE policies SET value = '180' WHERE name = 'sweep_interval_s'")
    try:
        sync_schedules()
        tasks.sweep()
    finally:
        owner_sql.execute("UPDATE policies SET value = '60' WHERE name = 'sweep_interval_s'")
    assert rows()["landed.sweep"]["minutes"] == 3
    alive = Liveness.objects.get(name="sweep")
    assert (alive.interval_seconds, alive.jitter_seconds) == (180, 15)
    assert [jitter(interval) for interval in (4, 60, 3600)] == [1, 15, 15]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.task)
def test_each_task_is_one_tick_under_single_flight(entry: Any) -> None:
    """It runs, proves it last, and is turned away while another runs it."""
    run: Callable[[], Any] = import_string(f"sweeper.tasks.{entry.task}")
    assert run().outcome == "ran"
    alive = Liveness.objects.get(name=entry.tick)
    take_sweep_lock(actor="other", name=entry.tick)
    assert run().outcome == "skipped_busy"
    assert Liveness.objects.get(name=entry.tick) == alive


def test_the_seal_covers_what_was_written() -> None:
    """Ticks leave audit rows; the seal tick seals them."""
    tasks.sweep()
    sealed = tasks.seal()
    assert sealed.report is not None
    assert sealed.report.n > 0
    assert AuditSeal.objects.exists()
