"""What happened to one subject, page by page: its audit rows and what was said of its sends."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Q
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html

from ledger.models import AuditEvent, Evidence
from review.items.page import Entry
from review.items.reading import json_text
from review.items.sends import evidence_line
from review.items.timeline import LIMIT, entry, with_texts
from review.language import _
from review.people import People
from review.text import shown


@dataclass(frozen=True, slots=True)
class History:
    """Some entries, the oldest first, and the position of those before them."""

    entries: tuple[Entry, ...] = ()
    older: str = ""


def history(
    people: People,
    subject: Mapping[str, str],
    job_id: str = "",
    before: str = "",
    *,
    values: bool = False,
) -> History:
    """Return the newest entries before a position; values: with what stood there and then."""
    if not subject:
        return History()
    wanted = reduce(or_, (Q(**{name: value}) for name, value in subject.items()))
    until, number = _position(before)
    rows = with_texts(AuditEvent.objects.filter(wanted))
    if until:
        rows = rows.filter(Q(at__lt=until) | Q(at=until, id__lt=number))
    if values:
        rows = rows.annotate(was=json_text("before", 120), came=json_text("after", 120))
    found = list(rows.order_by("-at", "-id")[: LIMIT + 1])
    more, found = len(found) > LIMIT, found[:LIMIT]
    since = found[-1].at if more else None
    entries = [_with_values(row, people) if values else entry(row, people) for row in found]
    if job_id:
        entries += _evidence(job_id, since, until)
    older = f"{found[-1].at.isoformat()}|{found[-1].id}" if more else ""
    return History(tuple(sorted(entries, key=lambda each: each.at)), older)


def _with_values(row: AuditEvent, people: People) -> Entry:
    """Say beside an entry which value stood there and which one came."""
    told, was, came = entry(row, people), getattr(row, "was", ""), getattr(row, "came", "")
    moved = f"{shown(was, 100)} → {shown(came, 100)}" if row.outcome == "won" else ""
    return replace(told, more=" · ".join(part for part in (moved, told.more) if part))


def _evidence(job_id: str, since: datetime | None, until: datetime | None) -> list[Entry]:
    """Return what was said of a job's sends within a time; a receipt's own audit row says more."""
    rows = Evidence.objects.filter(job_id=job_id).defer("body")
    if since:
        rows = rows.filter(observed_at__gte=since)
    if until:
        rows = rows.filter(observed_at__lt=until)
    lines = [evidence_line(row, _("key")) for row in rows.order_by("-observed_at", "-id")[:LIMIT]]
    return [
        Entry(
            line.at,
            line.chip.tone if line.chip.tone in ("ok", "warn", "bad") else "unknown",
            format_html(_("Evidence: {evidence}"), evidence=line.text),
            line.mono,
        )
        for line in lines
    ]


def _position(before: str) -> tuple[datetime | None, int]:
    """Read a position from the address; a broken one is the newest, not an error."""
    moment, _bar, number = before.partition("|")
    try:
        at = parse_datetime(moment)
    except ValueError:
        return None, 0
    if at is None or at.tzinfo is None or not (number.isascii() and number.isdigit()):
        return None, 0
    return (at, int(number)) if len(number) < 19 else (None, 0)
