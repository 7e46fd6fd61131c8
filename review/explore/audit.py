"""The audit: every change and every refusal, found by what it was about, newest first.

One subject a search, each by its own index. Without a subject the newest rows are looked through,
as many at once as the window allows; the page says how far that reached.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from ledger.catalog import OUTCOMES
from ledger.models import AuditEvent, AuditSeal
from ledger.models.audit_events import ACTOR_KINDS
from review.explore import shapes
from review.explore.shapes import Line, Page, number_of
from review.items import timeline
from review.items.parts import Chip
from review.language import _, later
from review.people import People
from review.text import shown

# Rows looked through at once where no index names them.
WINDOW: Final = 100_000
SUBJECTS: Final[Mapping[str, str]] = {
    "key": later("Key"),
    "record": later("Record"),
    "job": later("Job"),
    "item": later("Item number"),
    "person": later("Person"),
}
KINDS: Final[Sequence[str]] = tuple(sorted(ACTOR_KINDS))
_NEWEST: Final = 2**62


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for, as the address says it; a word nobody knows is a problem, not all."""

    by: str = "key"
    q: str = ""
    outcome: str = ""
    who: str = ""
    since: datetime | None = None
    until: datetime | None = None
    problem: str = ""

    @property
    def narrowed(self) -> bool:
        """Say whether rows are passed over that no index leaves out."""
        return bool(self.outcome or self.who)

    @property
    def everything(self) -> bool:
        """Say whether nothing is left out."""
        return not (self.q or self.narrowed or self.since or self.until)


@dataclass(frozen=True, slots=True)
class Found:
    """One page of rows; how far the look reached where it did not reach the end."""

    page: Page
    further: str = ""


def wanted(query: Mapping[str, str]) -> Wanted:
    """Read an address."""
    by, q = query.get("by") or "key", query.get("q", "").strip()
    outcome, who = query.get("outcome", ""), query.get("who", "")
    since, until = _moment(query.get("since", "")), _moment(query.get("until", ""), end=True)
    problem = ""
    if by not in SUBJECTS or (outcome and outcome not in OUTCOMES) or (who and who not in KINDS):
        problem = _("The address holds a word this page does not know.")
    elif (query.get("since") and since is None) or (query.get("until") and until is None):
        problem = _("Give a day as 2026-11-30.")
    elif q and _subject(by, q) is None:
        problem = (
            _("A record is written as its table, a slash and its key: customers/1002.")
            if by == "record"
            else _("An item has a number: 17 or #17.")
        )
    return Wanted(by if by in SUBJECTS else "key", q, outcome, who, since, until, problem)


def _moment(text: str, *, end: bool = False) -> datetime | None:
    """Read a day or a moment; the end of a day is the beginning of the next."""
    try:
        if day := parse_date(text):
            moment = datetime(day.year, day.month, day.day, tzinfo=timezone.get_current_timezone())
            return moment + timedelta(days=1) if end else moment
        exact = parse_datetime(text)
    except (ValueError, OverflowError):
        return None
    if exact is None:
        return None
    return exact if timezone.is_aware(exact) else timezone.make_aware(exact)


def _subject(by: str, text: str) -> Q | None:
    if by == "record":
        target, _, record = text.partition("/")
        return Q(target=target, record_key=record) if target and record else None
    if by == "item":
        number = number_of(text)
        return None if number is None else Q(conflict_id=number)
    if by == "person":
        return Q(actor_kind="human", actor=text)
    return Q(job_id=text) if by == "job" else Q(key=text)


def page(want: Wanted, after: str, size: int = shapes.PAGE) -> Found:
    """Return one page, newest first."""
    found = timeline.with_texts(_narrowed(want))
    if want.problem:
        return Found(Page())
    subject = _subject(want.by, want.q) if want.q else None
    if subject is not None:
        return Found(shapes.page(found.filter(subject), ("-at", "-id"), after, size))
    low, high = _sealed_between(want)
    found = found.filter(id__gte=low, id__lte=high)
    if not want.narrowed:
        return Found(shapes.page(found, ("-id",), after, size))
    return _window(found, low, min(high, _before(after)), size)


def _narrowed(want: Wanted) -> QuerySet[AuditEvent]:
    found = AuditEvent.objects.defer("before", "after", "row_hash")
    if want.outcome:
        found = found.filter(outcome=want.outcome)
    if want.who:
        found = found.filter(actor_kind=want.who)
    if want.since:
        found = found.filter(at__gte=want.since)
    if want.until:
        found = found.filter(at__lt=want.until)
    return found


def _sealed_between(want: Wanted) -> tuple[int, int]:
    """Say between which numbers the rows of a time lie: the seals tell it without an index."""
    low, high = 0, _NEWEST
    if want.until:
        after = AuditSeal.objects.filter(sealed_at__gte=want.until).order_by("id")
        high = after.values_list("to_id", flat=True).first() or high
    if want.since:
        before = AuditSeal.objects.filter(sealed_at__lt=want.since).order_by("-id")
        low = before.values_list("from_id", flat=True).first() or low
    return low, high


def _window(found: QuerySet[AuditEvent], low: int, high: int, size: int) -> Found:
    """Look through the newest rows up to a number; say where to look on."""
    newest = AuditEvent.objects.filter(id__lte=high).order_by("-id")
    top = newest.values_list("id", flat=True).first() or 0
    floor = max(low, top - WINDOW + 1)
    seen = shapes.page(found.filter(id__gte=floor, id__lte=top), ("-id",), "", size)
    oldest = AuditEvent.objects.order_by("id").values_list("id", flat=True).first() or 0
    more = not seen.after and floor > max(low, oldest)
    return Found(seen, further=f'["{floor}"]' if more else "")


def _before(after: str) -> int:
    """Return the number below which a page goes on."""
    number = number_of(after.strip('[]"'))
    return _NEWEST if number is None else number - 1


def tell(found: Sequence[AuditEvent], people: People) -> list[Line]:
    """Put rows in words."""
    return [_line(row, people) for row in found]


def _line(row: AuditEvent, people: People) -> Line:
    entry = timeline.entry(row, people)
    return Line(
        what=entry.text,
        url=reverse("admin:ledger_auditevent_change", args=[row.pk]),
        why=" · ".join(part for part in (shown(row.key, 120), entry.more) if part),
        chips=(Chip(row.outcome.replace("_", " "), entry.tone),),
        at=row.at,
        last=shown(row.op, 40),
    )


def each(want: Wanted, most: int, size: int = 1_000) -> Iterator[AuditEvent]:
    """Yield the rows one after the other, newest first, page by page and never more than most."""
    after, given = "", 0
    while given < most:
        found = page(want, after, min(size, most - given))
        yield from found.page.rows
        given += len(found.page.rows)
        after = found.page.after or found.further
        if not after:
            return
