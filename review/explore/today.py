"""Today: what waits, is under way and ended, and whether what should run does. Reads only."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format

from ledger.metrics import Day, Ended, ended_lately
from ledger.models import OutboxMessage
from review import charts
from review.charts import Chart
from review.decisions import Kind
from review.explore.jobs import JOBS
from review.explore.shapes import COUNT_CAP, counted_to_cap
from review.items.addresses import item_url, list_url
from review.language import _, grouped
from review.models import QueueItem
from review.text import actor, age
from review.verbs import kind_of

_HOURS = 24
_WORKFLOWS = 50


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much of one kind waits, and since when the oldest."""

    kind: Kind
    count: str
    oldest: datetime
    url: str


@dataclass(frozen=True, slots=True)
class Number:
    """One number that leads somewhere."""

    label: str
    value: str
    url: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Workflow:
    """What one workflow ended in the last 24 hours."""

    name: str
    url: str
    processed: int
    failed: int
    median: str


def waiting() -> list[Waiting]:
    """Return what waits for a person by kind, the oldest kind first; one capped read."""
    rows = list(
        QueueItem.objects.order_by("opened_at", "item_id", "source").values_list(
            "source", "kind", "opened_at"
        )[: COUNT_CAP + 1]
    )
    capped = len(rows) > COUNT_CAP
    counts = Counter((source, kind) for source, kind, _since in rows[:COUNT_CAP])
    oldest: dict[tuple[str, str], datetime] = {}
    for source, kind, opened_at in rows:
        oldest.setdefault((source, kind), opened_at)
    queue = reverse("admin:review_queue")
    return [
        Waiting(
            kind_of(source, kind),
            f"{grouped(counts[source, kind])}{'+' if capped else ''}",
            opened_at,
            f"{queue}?kind={source}:{kind if source == 'conflict' else ''}",
        )
        for (source, kind), opened_at in oldest.items()
        if counts[source, kind]
    ]


def numbers() -> list[Number]:
    """Return how many jobs are in which state, and how old the oldest undelivered message is."""
    found = [
        Number(
            tab.label,
            count := counted_to_cap(tab),
            list_url("jobs", f"?tab={name}" if name else ""),
            "bad" if name in ("late", "untaken") and count != "0" else "",
        )
        for name, tab in JOBS.tabs.items()
        if name != "finished"
    ]
    unpublished = OutboxMessage.objects.filter(published_at__isnull=True, dropped_at__isnull=True)
    oldest = unpublished.order_by("created_at").values_list("created_at", flat=True).first()
    since = age((timezone.now() - oldest).total_seconds()) if oldest else _("none")
    label = _("Oldest undelivered message")
    return [*found, Number(label, since, item_url("tick", "relay_outbox"))]


def day() -> tuple[Day, Chart, list[Workflow]]:
    """Return what ended in the last 24 hours: the numbers, the bars, and by workflow."""
    found = ended_lately()
    return found, _bars(found), [_workflow(each) for each in found.workflows[:_WORKFLOWS]]


def _bars(found: Day) -> Chart:
    now = timezone.localtime().replace(minute=0, second=0, microsecond=0)
    by_hour = {each.hour: each for each in found.hours}
    values = []
    for back in range(_HOURS - 1, -1, -1):
        hour = now - timedelta(hours=back)
        each = by_hour.get(hour, Ended(None, hour, 0, 0, None))
        values.append((f"{hour:%H}", each.processed - each.failed, each.failed))
    return charts.stacked(values)


def _workflow(each: Ended) -> Workflow:
    name = each.workflow or ""
    median = "" if each.median_seconds is None else _short(each.median_seconds)
    url = item_url("workflow", name) if name and not name.startswith("(") else ""
    return Workflow(actor(name, 80), url, each.processed, each.failed, median)


def _short(seconds: float) -> str:
    if seconds >= 10:
        return age(seconds)
    return _("{seconds} s").format(seconds=number_format(round(seconds, 1), 1))
