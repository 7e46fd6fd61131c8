"""Reads what people agreed about items: for the rows of a page, for one item, for what is put off.

A fixed number of queries, whatever there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import (
    BigIntegerField,
    Case,
    DateTimeField,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    When,
)
from django.db.models.functions import Cast, Now
from django.utils import timezone

from ledger.models import BatchRun, Conflict, FailedJob, Idem, Job, OutboxMessage, Run
from ledger.models.base import GuardedModel
from review.language import later
from review.models import Attention, Note, Presence, QueueItem

# More than this is not put off at one time; what is beyond stays in the queue.
PUT_OFF_CAP: Final = 1_000
# Who opened a page so long ago may still look at it.
PRESENT_S: Final = 90
NOTES: Final = 60
# The sources that tell how often a thing happened, and the column that does.
COUNTED: Final[Mapping[str, tuple[type[GuardedModel], str]]] = {
    "conflict": (Conflict, "attempt"),
    "failed_job": (FailedJob, "retry_count"),
}
_BY_NUMBER: Final[Mapping[str, type[GuardedModel]]] = {
    "conflict": Conflict,
    "failed_job": FailedJob,
    "batch": BatchRun,
    "outbox": OutboxMessage,
}
NUMBERED: Final = frozenset(_BY_NUMBER)
_BY_TEXT: Final[Mapping[str, type[GuardedModel]]] = {"job": Job, "key": Idem}
# The choices of the queue's filter by attention.
CHOICES: Final[Mapping[str, str]] = {
    "mine": later("I have it"),
    "put-off": later("Put off"),
    "everything": later("Also what is put off"),
}


@dataclass(frozen=True, slots=True)
class Shared:
    """What is known of one item beside the ledger."""

    claimed_by: str = ""
    claimed_until: datetime | None = None
    snoozed_until: datetime | None = None
    ignored_until: int | None = None
    put_off_by: str = ""

    @property
    def put_off(self) -> bool:
        """Whether it is put off at all."""
        return self.snoozed_until is not None or self.ignored_until is not None


def _column(model: type[GuardedModel], column: str, key: str) -> Subquery:
    rows = model.objects.filter(pk=OuterRef(key))
    return Subquery(rows.values(column)[:1])


def _waiting() -> QuerySet[Any]:
    """Select what people agreed about items that still wait, with since when they do."""
    since = [
        *(
            When(source=s, then=_column(m, "waiting_since", "number"))
            for s, m in _BY_NUMBER.items()
        ),
        *(When(source=s, then=_column(m, "waiting_since", "item_id")) for s, m in _BY_TEXT.items()),
        When(source="run", then=_column(Run, "waiting_since", "run")),
    ]
    count = [When(source=s, then=_column(m, c, "number")) for s, (m, c) in COUNTED.items()]
    run = Case(
        When(source="run", then=Cast("item_id", UUIDField())), output_field=UUIDField(null=True)
    )
    agreed: QuerySet[Any] = Attention.objects.annotate(run=run).annotate(
        since=Case(*since, output_field=DateTimeField(null=True)),
        count=Case(*count, output_field=BigIntegerField(null=True)),
    )
    waiting: QuerySet[Any] = agreed.filter(since__isnull=False)
    return waiting


def put_off() -> list[Any]:
    """Return what waits and is put off, as source, id and since when it waits; capped."""
    off = Q(snoozed_until__gt=Now()) | Q(ignored_until__gt=F("count"))
    marked = Q(snoozed_until__isnull=False) | Q(ignored_until__isnull=False)
    rows = _waiting().filter(marked, off).order_by("id")
    return list(rows.values_list("source", "item_id", "since")[:PUT_OFF_CAP])


def claimed_by(name: str) -> list[Any]:
    """Return what waits and somebody has now."""
    rows = _waiting().filter(claimed_by=name, claimed_until__gt=Now()).exclude(claimed_by="")
    return list(rows.values_list("source", "item_id", "since")[:PUT_OFF_CAP])


def only(rows: QuerySet[QueueItem], named: Iterable[Any]) -> QuerySet[QueueItem]:
    """Narrow the queue to these; by the time they began to wait, which is indexed."""
    chosen = _sorted(named)
    if not chosen:
        return rows.none()
    wanted = Q()
    for source, found in chosen.items():
        wanted |= Q(source=source, item_id__in=list(found), opened_at__in=set(found.values()))
    return rows.filter(wanted)


def without(rows: QuerySet[QueueItem], named: Iterable[Any]) -> QuerySet[QueueItem]:
    """Leave these out of the queue."""
    for source, found in _sorted(named).items():
        rows = rows.exclude(source=source, item_id__in=list(found))
    return rows


def _sorted(named: Iterable[Any]) -> dict[str, dict[str, datetime]]:
    found: dict[str, dict[str, datetime]] = {}
    for source, item_id, since in named:
        found.setdefault(source, {})[item_id] = since
    return found


def of_items(items: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Shared]:
    """Return what is agreed about the items of one page, in one query."""
    wanted = set(items)
    rows = Attention.objects.filter(
        source__in={source for source, _ in wanted}, item_id__in={item for _, item in wanted}
    )
    return {
        (row.source, row.item_id): _shared(row)
        for row in rows
        if (row.source, row.item_id) in wanted
    }


def of_item(source: str, item_id: str) -> Shared:
    """Return what is agreed about one item."""
    return of_items([(source, item_id)]).get((source, item_id), Shared())


def _shared(row: Attention) -> Shared:
    """Leave out what is over: a claim whose time has run out, a time that has come."""
    now = timezone.now()
    held = row.claimed_until is not None and row.claimed_until > now
    asleep = row.snoozed_until is not None and row.snoozed_until > now
    return Shared(
        row.claimed_by if held else "",
        row.claimed_until if held else None,
        row.snoozed_until if asleep else None,
        row.ignored_until,
        row.put_off_by,
    )


def times_happened(source: str, item_id: str) -> int | None:
    """Return how often a thing happened, where its source counts that."""
    if source not in COUNTED:
        return None
    model, column = COUNTED[source]
    found = model.objects.filter(pk=item_id).values_list(column, flat=True).first()
    return None if found is None else int(found)


def notes(source: str, item_id: str) -> list[Note]:
    """Return the newest that was said about an item, oldest first."""
    rows = Note.objects.filter(source=source, item_id=item_id).order_by("-id")
    return list(reversed(rows[:NOTES]))


def others_here(source: str, item_id: str, me: str) -> list[Presence]:
    """Return who else has the page of an item open."""
    since = timezone.now() - timedelta(seconds=PRESENT_S)
    rows = Presence.objects.filter(source=source, item_id=item_id, at__gte=since).exclude(by=me)
    return list(rows.order_by("by")[:10])
