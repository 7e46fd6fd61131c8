"""The list of all that waits: one page of the view review_queue, each row in words.

Reads only. Counts are capped, pages go by keyset, and the number of queries does not depend on
what waits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.contrib.admin.utils import quote
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from ledger.models import BatchRun, Conflict, Effect, FailedJob, Job, OutboxMessage, Provider
from review.items.reading import json_text, side
from review.items.sends import class_words
from review.items.stories import what, why
from review.models import QueueItem
from review.text import age, counted, shown
from review.verbs import Kind, kind_of

PAGE: Final = 50
# Counting stops here; "1,000+" tells a person as much as the exact number.
COUNT_CAP: Final = 1_000
_ORDER = ("opened_at", "item_id", "source")

# The tabs: address word, label, and what they select.
TABS: Final[Mapping[str, str]] = {
    "": "All open",
    "sends": "Uncertain sends",
    "conflicts": "Conflicts",
    "other": "Everything else",
}


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of the queue, ready to show."""

    source: str
    item_id: str
    kind: Kind
    what: str
    why: str
    opened_at: datetime
    url: str
    late: bool = False
    chips: tuple[str, ...] = ()

    @property
    def waiting(self) -> str:
        """How long it has been waiting."""
        return age((timezone.now() - self.opened_at).total_seconds())


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page and the address of the next."""

    rows: list[QueueRow]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much waits, per tab, up to the cap."""

    tabs: Mapping[str, int] = field(default_factory=dict)
    capped: bool = False

    def words(self, tab: str) -> str:
        """Write a tab's count; a plus says that counting stopped."""
        return f"{self.tabs.get(tab, 0):,}{'+' if self.capped else ''}"

    @property
    def headline(self) -> str:
        """Say how much waits, with its scope."""
        total = self.tabs.get("", 0)
        if total == 0:
            return "Nothing waits for a decision"
        verb = "waits" if total == 1 and not self.capped else "wait"
        return f"{counted(total, 'thing', capped=self.capped)} {verb} for a decision"


def tab_of(source: str, kind: str) -> str:
    """Return the tab an item belongs to, besides the one for all."""
    if source != "conflict":
        return "other"
    return "sends" if kind == "unknown_send" else "conflicts"


def in_tab(rows: QuerySet[QueueItem], tab: str) -> QuerySet[QueueItem]:
    """Narrow the queue to a tab; a kind is always named together with its source."""
    if tab == "sends":
        return rows.filter(source="conflict", kind="unknown_send")
    if tab == "conflicts":
        return rows.filter(source="conflict").exclude(kind="unknown_send")
    if tab == "other":
        return rows.exclude(source="conflict")
    return rows


def counts(rows: QuerySet[QueueItem]) -> Counts:
    """Count the tabs in one capped query."""
    found = list(rows.order_by().values_list("source", "kind")[: COUNT_CAP + 1])
    tabs = Counter(tab_of(source, kind) for source, kind in found[:COUNT_CAP])
    return Counts({**tabs, "": min(len(found), COUNT_CAP)}, capped=len(found) > COUNT_CAP)


def waiting_count() -> str:
    """Count all that waits for the header, up to 99."""
    number = len(QueueItem.objects.order_by().values_list("source")[:100])
    return "99+" if number > 99 else str(number or "")


def page(rows: QuerySet[QueueItem], after: str, late_after: float, suffix: str = "") -> QueuePage:
    """Return the page that follows a position, oldest first."""
    position = _position(after)
    ordered = rows.order_by(*_ORDER)
    if position:
        ordered = ordered.filter(TupleGreaterThan(Tuple(*(F(name) for name in _ORDER)), position))
    found = list(ordered[: PAGE + 1])
    shown_rows = describe(found[:PAGE], late_after, suffix)
    more = found[PAGE - 1] if len(found) > PAGE else None
    return QueuePage(
        shown_rows, f"{more.opened_at.isoformat()}|{more.source}|{more.item_id}" if more else ""
    )


def _position(after: str) -> tuple[Any, ...] | None:
    """Read a position from the address; a broken one is the first page, not an error."""
    moment, _, rest = after.partition("|")
    source, _, item_id = rest.partition("|")
    try:
        opened_at = parse_datetime(moment)
    except ValueError:
        return None
    return (opened_at, item_id, source) if opened_at and source else None


def next_after(rows: QuerySet[QueueItem], source: str, item_id: str) -> QueueRow | None:
    """Return the oldest other item of the same selection."""
    found = list(rows.order_by(*_ORDER)[:2])
    others = [item for item in found if (item.source, str(item.item_id)) != (source, item_id)]
    return next(iter(describe(others[:1], float("inf"))), None)


def item_url(source: str, item_id: object) -> str:
    """Return the address of an item's page."""
    return reverse("admin:review_item", args=[source, quote(str(item_id))])


def describe(items: Iterable[QueueItem], late_after: float, suffix: str = "") -> list[QueueRow]:
    """Put the items of one page in words; one query per table, whatever the number of rows."""
    items = list(items)
    words = _words(items)
    now = timezone.now()
    rows = []
    for item in items:
        key = (item.source, str(item.item_id))
        name, reason, chips = words.get(key, (f"{item.source} {shown(item.item_id, 80)}", "", ()))
        rows.append(
            QueueRow(
                source=item.source,
                item_id=str(item.item_id),
                kind=kind_of(item.source, item.kind),
                what=name,
                why=reason,
                opened_at=item.opened_at,
                url=item_url(*key) + suffix,
                late=(now - item.opened_at).total_seconds() > late_after,
                chips=chips,
            )
        )
    return rows


type _Words = dict[tuple[str, str], tuple[str, str, tuple[str, ...]]]


def _words(items: list[QueueItem]) -> _Words:
    ids: dict[str, list[str]] = {}
    for item in items:
        ids.setdefault(item.source, []).append(str(item.item_id))
    words: _Words = {}
    for source, tell in _TELL.items():
        if source in ids:
            words |= {(source, pk): told for pk, told in tell(ids[source]).items()}
    return words


def _conflicts(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    rows = list(
        Conflict.objects.filter(pk__in=ids)
        .only(
            "kind",
            "target",
            "record_key",
            "job_id",
            "idem_key",
            "effect",
            "workflow",
            "attempt",
            "version_read",
            "version_found",
            "sensitive",
            "proposed_by",
        )
        .annotate(
            attempted_text=json_text("attempted", 4_000), detail_text=json_text("detail", 2_000)
        )
    )
    jobs = dict(
        Job.objects.filter(pk__in=[row.job_id for row in rows if row.job_id]).values_list(
            "id", "provider"
        )
    )
    providers = Provider.objects.in_bulk(list(set(jobs.values())))
    titles = dict(
        Effect.objects.filter(pk__in={row.effect for row in rows if row.effect}).values_list(
            "name", "title"
        )
    )
    told = {}
    for row in rows:
        attempted, detail = side(row.attempted_text).value, side(row.detail_text).value
        fields = sorted(attempted) if row.target and isinstance(attempted, dict) else []
        provider = jobs.get(row.job_id or "")
        facts = {
            "effect_title": titles.get(row.effect or ""),
            "provider": shown(provider, 60),
            "path": detail.get("path") if isinstance(detail, dict) else None,
            **class_words(providers.get(provider or "")),
        }
        chips = ["sensitive"] if row.sensitive else []
        chips += ["second person"] if row.proposed_by else []
        told[str(row.pk)] = (what(row, fields, facts), why(row, facts), tuple(chips))
    return told


def _failed(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    rows = FailedJob.objects.filter(pk__in=ids).only(
        "workflow_name", "error_node", "error_message", "retry_count", "state"
    )
    return {
        str(row.pk): (
            shown(row.workflow_name, 80)
            + (f" · node “{shown(row.error_node, 60)}”" if row.error_node else ""),
            " · retried ".join(
                (shown(row.error_message or "no message", 160), counted(row.retry_count, "time"))
            ),
            (),
        )
        for row in rows
    }


def _jobs(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    rows = Job.objects.filter(pk__in=ids).only("effect", "workflow", "idem_key", "run_after")
    return {
        row.pk: (
            f"{shown(row.effect, 60)} · {shown(row.idem_key, 80)}",
            f"due, and no worker of {shown(row.workflow, 60)} takes it",
            (),
        )
        for row in rows
    }


def _batches(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    rows = BatchRun.objects.filter(pk__in=ids).only("workflow_name", "status", "items_processed")
    return {
        str(row.pk): (
            f"import of {shown(row.workflow_name, 80)}",
            " after ".join(
                (
                    "failed" if row.status == "failed" else "stalled",
                    counted(row.items_processed, "item"),
                )
            ),
            (),
        )
        for row in rows
    }


def _outbox(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    rows = OutboxMessage.objects.filter(pk__in=ids).only(
        "topic", "subject", "last_error", "attempts"
    )
    return {
        str(row.pk): (
            f"{shown(row.topic, 60)} · {shown(row.subject, 80)}",
            ": ".join(
                (
                    f"not delivered after {counted(row.attempts, 'try', 'tries')}",
                    shown(row.last_error, 120),
                )
            ),
            (),
        )
        for row in rows
    }


def _keys(ids: list[str]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    return {pk: (shown(pk, 120), "held longer than it should be", ()) for pk in ids}


_TELL = {
    "conflict": _conflicts,
    "failed_job": _failed,
    "job": _jobs,
    "batch": _batches,
    "outbox": _outbox,
    "key": _keys,
}
