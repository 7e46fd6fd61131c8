"""The list of what people decided, newest first: the audit's won decisions, each row in words.

Reads only. Bounded to the last days, so that the audit's index by workflow and operation serves it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString

from ledger.models import AuditEvent, Conflict, FailedJob, Workflow
from review.decisions import Kind
from review.items.deeds import DECIDING
from review.items.reading import json_text
from review.items.rows import Told, tell
from review.items.timeline import deed
from review.language import _
from review.models import QueueItem
from review.people import People
from review.queue import COUNT_CAP, PAGE, item_url
from review.text import shown
from review.verbs import kind_of

DAYS: Final = 30
# The source an operation decides; approve decides a conflict too.
_SOURCES: Mapping[str, str] = {
    "decide_conflict": "conflict",
    "approve_decision": "conflict",
    "decide_failed_job": "failed_job",
    "decide_queued_job": "job",
    "decide_batch": "batch",
    "decide_outbox": "outbox",
    "decide_run": "run",
}


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """One decision, ready to show."""

    kind: Kind
    what: str
    who: str | SafeString
    did: str
    reason: str
    at: datetime
    url: str
    reopened: bool = False


@dataclass(frozen=True, slots=True)
class DecidedPage:
    """One page of decisions and the address of the next."""

    rows: list[DecidedRow]
    after: str = ""


def page(wanted: Mapping[str, str], people: People, suffix: str = "") -> DecidedPage:
    """Return the decisions of the last days that fit q, kind and workflow, after a position."""
    rows = _narrowed(_decisions(), wanted)
    if position := _position(wanted.get("after", "")):
        at, number = position
        rows = rows.filter(Q(at__lt=at) | Q(at=at, id__lt=number))
    found: list[Any] = list(rows.order_by("-at", "-id")[: PAGE + 1])
    more = found[PAGE - 1] if len(found) > PAGE else None
    shown_rows = _describe(found[:PAGE], people, suffix)
    return DecidedPage(shown_rows, f"{more.at.isoformat()}|{more.id}" if more else "")


def _decisions() -> QuerySet[AuditEvent]:
    names = list(Workflow.objects.values_list("name", flat=True)[:COUNT_CAP])
    return (
        AuditEvent.objects.filter(
            Q(workflow__in=names) | Q(workflow=None),
            op__in=DECIDING,
            outcome="won",
            actor_kind="human",
            at__gte=timezone.now() - timedelta(days=DAYS),
        )
        .defer("before", "after", "row_hash")
        .annotate(
            decision_text=KT("after__decision"),
            edited_text=KT("after__edited"),
            key_text=KT("after__key"),
            changes_text=json_text("after__changes", 4_000),
        )
    )


def _narrowed(rows: QuerySet[AuditEvent], wanted: Mapping[str, str]) -> QuerySet[AuditEvent]:
    if workflow := wanted.get("workflow"):
        rows = rows.filter(workflow=workflow)
    source, _, kind = wanted.get("kind", "").partition(":")
    if source:
        rows = rows.filter(op__in=[op for op, each in _SOURCES.items() if each == source])
    if kind:
        rows = rows.filter(conflict_id__in=Conflict.objects.filter(kind=kind).values("id"))
    if text := wanted.get("q", "").replace("\x00", "").strip():
        rows = rows.filter(_named(text))
    return rows


def _named(text: str) -> Q:
    """Find by the key, job, person, record or item number that a person has at hand."""
    found = Q(key=text) | Q(job_id=text) | Q(actor=text)
    target, slash, record_key = text.partition("/")
    if slash:
        found |= Q(target=target, record_key=record_key)
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        found |= Q(conflict_id=int(number))
    return found


def _position(after: str) -> tuple[datetime, int] | None:
    moment, _, number = after.partition("|")
    try:
        at = parse_datetime(moment)
    except ValueError:
        return None
    if at is None or not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=timezone.get_current_timezone())), int(number)


def _describe(rows: list[Any], people: People, suffix: str) -> list[DecidedRow]:
    ids = _items(rows)
    told = tell(QueueItem(source=source, item_id=item) for source, item in ids.values())
    numbers = [int(item) for source, item in ids.values() if source == "conflict"]
    kinds = dict(Conflict.objects.filter(pk__in=numbers).values_list("id", "kind"))
    waiting = set(
        Conflict.objects.filter(pk__in=numbers, state="open").values_list("id", flat=True)
    )
    described = []
    for row in rows:
        source, item = ids.get(row.id, (_SOURCES[row.op], ""))
        named = told.get((source, item)) or Told(shown(row.key, 80), "", "")
        described.append(
            DecidedRow(
                kind=named.kind or kind_of(source, kinds.get(row.conflict_id, "")),
                what=named.what,
                who=people.name(row.actor, "human"),
                did=deed(row) or _("decided"),
                reason=shown(row.reason or "", 160),
                at=row.at,
                url=item_url(source, item) + suffix
                if item
                else reverse("admin:ledger_auditevent_change", args=[row.pk]),
                reopened=row.conflict_id in waiting,
            )
        )
    return described


def _items(rows: Iterable[Any]) -> dict[int, tuple[str, str]]:
    """Return the item each audit row decided; of some only the audit row itself is known."""
    letters = {
        job: str(pk)
        for pk, job in FailedJob.objects.filter(
            job_id__in=[row.job_id for row in rows if row.op == "decide_failed_job" and row.job_id]
        )
        .order_by("id")
        .values_list("id", "job_id")
    }
    found = {}
    for row in rows:
        source = _SOURCES[row.op]
        item = {
            "conflict": str(row.conflict_id or ""),
            "failed_job": letters.get(row.job_id, ""),
            "job": row.job_id or "",
            "batch": row.key.removeprefix("batch:"),
            "run": row.key.removeprefix("run:"),
        }.get(source, "")
        if item:
            found[row.id] = (source, item)
    return found
