"""The schedules of django-q2, as code: what runs how often, and nothing else runs.

The rows in its table are a copy. They are put back to what stands here whenever the worker looks,
because one broken row stops every schedule, and because a row can name any function.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django_q.models import Schedule

from sweeper.ticks import seconds


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule: the task of ``sweeper.tasks``, the policy with its interval, and its tick."""

    task: str
    interval_policy: str
    tick: str

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return f"landed.{self.task}"


ENTRIES = (
    Entry("sweep", "sweep_interval_s", "sweep"),
    Entry("promote", "promote_interval_s", "promote_conflicts"),
    Entry("reconcile", "reconcile_interval_s", "reconciler"),
    Entry("drift", "drift_interval_s", "drift"),
    Entry("seal", "seal_interval_s", "seal_audit"),
    Entry("dlq_retry", "dlq_interval_s", "dlq_retry"),
    Entry("relay_outbox", "outbox_interval_s", "relay_outbox"),
    Entry("archive_keys", "retention_interval_s", "archive_keys"),
    Entry("purge_jobs", "retention_interval_s", "purge_jobs"),
    Entry("purge_archive", "retention_interval_s", "purge_archive"),
)


def sync_schedules() -> float:
    """Make the table say what stands here; a schedule that is right keeps its next run.

    Return the shortest interval in seconds: whoever triggers has to look more often than that.
    """
    # Policies are read in autocommit only.
    intervals = {entry: seconds(entry.interval_policy) for entry in ENTRIES}
    with transaction.atomic():
        Schedule.objects.exclude(name__in=[entry.name for entry in ENTRIES]).delete()
        for entry, interval in intervals.items():
            _sync(entry, interval)
    return min(intervals.values())


def _sync(entry: Entry, interval_seconds: float) -> None:
    minutes = max(1, round(interval_seconds / 60))
    wanted = {
        "func": f"sweeper.tasks.{entry.task}",
        "schedule_type": Schedule.MINUTES,
        "minutes": minutes,
        "repeats": -1,
        "args": None,
        "kwargs": None,
        "hook": None,
        "cron": None,
        "cluster": None,
        "intended_date_kwarg": None,
    }
    rows = list(Schedule.objects.select_for_update().filter(name=entry.name).order_by("id"))
    for extra in rows[1:]:
        extra.delete()
    if not rows:
        Schedule.objects.create(name=entry.name, **wanted)
        return
    row = rows[0]
    changed = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    now, interval = timezone.now(), timedelta(seconds=interval_seconds)
    if row.next_run is None or row.next_run <= now - 10 * timedelta(minutes=minutes):
        changed["next_run"] = now
    elif row.next_run > now + interval:  # the scheduler counts in whole minutes
        changed["next_run"] = now + min(interval, timedelta(minutes=0.5))
    if changed:
        Schedule.objects.filter(pk=row.pk).update(**changed)
