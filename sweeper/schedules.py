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
    """One schedule: the task of ``sweeper.tasks`` and the policy with its interval."""

    task: str
    interval_policy: str

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return f"landed.{self.task}"

    @property
    def minutes(self) -> int:
        """Return the interval as the scheduler counts; a shorter one needs a loop of its own."""
        return max(1, round(seconds(self.interval_policy) / 60))


ENTRIES = (
    Entry("sweep", "sweep_interval_s"),
    Entry("promote", "promote_interval_s"),
    Entry("seal", "seal_interval_s"),
    Entry("dlq_retry", "dlq_interval_s"),
    Entry("relay_outbox", "outbox_interval_s"),
    Entry("archive_keys", "retention_interval_s"),
    Entry("purge_jobs", "retention_interval_s"),
    Entry("purge_archive", "retention_interval_s"),
)


def sync_schedules() -> None:
    """Make the table say what stands here; a schedule that is right keeps its next run."""
    intervals = {entry: entry.minutes for entry in ENTRIES}  # policies are read in autocommit only
    with transaction.atomic():
        Schedule.objects.exclude(name__in=[entry.name for entry in ENTRIES]).delete()
        for entry, minutes in intervals.items():
            _sync(entry, minutes)


def _sync(entry: Entry, minutes: int) -> None:
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
    now, interval = timezone.now(), timedelta(minutes=minutes)
    if row.next_run is None or not now - 10 * interval < row.next_run <= now + interval:
        changed["next_run"] = now
    if changed:
        Schedule.objects.filter(pk=row.pk).update(**changed)
