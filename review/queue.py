"""The list of all that waits: one page of the view review_queue, each row in words.

Reads only. Counts are capped, pages go by keyset, and the number of queries does not depend on
what waits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from django.db.models import F, Q, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from review.decisions import Kind
from review.items import addresses
from review.items.rows import Told, tell
from review.language import _, grouped, later, plural
from review.models import QueueItem
from review.text import age, shown
from review.verbs import kind_of

PAGE: Final = 50
# Counting stops here; "1,000+" tells a person as much as the exact number.
COUNT_CAP: Final = 1_000
_ORDER = ("opened_at", "item_id", "source")
# The orders of the queue: address word and label; without one, what waits longest is first.
NEWEST: Final = "newest"
ORDERS: Final[Mapping[str, str]] = {NEWEST: later("Newest first")}

# Kept as conflicts by the ledger, but no two versions met: what is missing is a key or a job.
_LONE = ("missing_key", "lost_claim")

# The tabs: address word, label, and what they select.
TABS: Final[Mapping[str, str]] = {
    "": later("All open"),
    "sends": later("Uncertain sends"),
    "conflicts": later("Conflicts"),
    "other": later("Everything else"),
    "decided": later("Decided"),
}


item_url = addresses.item_url


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of the queue, ready to show."""

    source: str
    item_id: str
    kind: Kind
    what: str
    why: str
    next: str
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
        """Write a tab's count, a plus where counting stopped; what is decided is not counted."""
        if tab == "decided":
            return ""
        return f"{grouped(self.tabs.get(tab, 0))}{'+' if self.capped else ''}"

    @property
    def headline(self) -> str:
        """Say how much waits, with its scope."""
        total = self.tabs.get("", 0)
        if total == 0:
            return _("Nothing waits for a decision")
        return plural(
            "{number} thing waits for a decision",
            "{number} things wait for a decision",
            total,
            capped=self.capped,
        )


def tab_of(source: str, kind: str) -> str:
    """Return the tab an item belongs to, besides the one for all."""
    if source != "conflict" or kind in _LONE:
        return "other"
    return "sends" if kind == "unknown_send" else "conflicts"


def in_tab(rows: QuerySet[QueueItem], tab: str) -> QuerySet[QueueItem]:
    """Narrow the queue to a tab; a kind is always named together with its source.

    What is decided waits no more, so that tab is a list of its own (review.decided) and the next
    item after it is any.
    """
    if tab == "sends":
        return rows.filter(source="conflict", kind="unknown_send")
    if tab == "conflicts":
        return rows.filter(source="conflict").exclude(kind__in=("unknown_send", *_LONE))
    if tab == "other":
        return rows.filter(~Q(source="conflict") | Q(kind__in=_LONE))
    return rows


def counts(rows: QuerySet[QueueItem]) -> Counts:
    """Count the tabs in one capped query."""
    found = list(rows.order_by().values_list("source", "kind")[: COUNT_CAP + 1])
    tabs = Counter(tab_of(source, kind) for source, kind in found[:COUNT_CAP])
    return Counts({**tabs, "": min(len(found), COUNT_CAP)}, capped=len(found) > COUNT_CAP)


def with_chips(found: QueuePage, chips: Mapping[tuple[str, str], tuple[str, ...]]) -> QueuePage:
    """Add further labels to the rows of a page."""
    rows = [
        replace(row, chips=row.chips + chips.get((row.source, row.item_id), ()))
        for row in found.rows
    ]
    return replace(found, rows=rows)


def waiting_count(rows: QuerySet[QueueItem]) -> str:
    """Count what waits for the header, up to 99."""
    number = len(rows.order_by().values_list("source")[:100])
    return "99+" if number > 99 else str(number or "")


def page(
    rows: QuerySet[QueueItem],
    after: str,
    late_after: float,
    suffix: str = "",
    *,
    newest: bool = False,
) -> QueuePage:
    """Return the page that follows a position, oldest or newest first."""
    position = _position(after)
    ordered = in_order(rows, newest=newest)
    if position:
        beyond = TupleLessThan if newest else TupleGreaterThan
        ordered = ordered.filter(beyond(Tuple(*(F(name) for name in _ORDER)), position))
    found = list(ordered[: PAGE + 1])
    shown_rows = describe(found[:PAGE], late_after, suffix)
    more = found[PAGE - 1] if len(found) > PAGE else None
    return QueuePage(
        shown_rows, f"{more.opened_at.isoformat()}|{more.source}|{more.item_id}" if more else ""
    )


def in_order(rows: QuerySet[QueueItem], *, newest: bool) -> QuerySet[QueueItem]:
    """Put the queue in one of its two orders; an index reads either."""
    return rows.order_by(*(f"-{name}" if newest else name for name in _ORDER))


def _position(after: str) -> tuple[Any, ...] | None:
    """Read a position from the address; a broken one is the first page, not an error."""
    moment, _, rest = after.partition("|")
    source, _, item_id = rest.partition("|")
    try:
        opened_at = parse_datetime(moment)
    except ValueError:
        return None
    return (opened_at, item_id, source) if opened_at and source else None


def next_after(
    rows: QuerySet[QueueItem], source: str, item_id: str, *, newest: bool = False
) -> QueueRow | None:
    """Return the first other item of the same selection."""
    found = list(in_order(rows, newest=newest)[:2])
    others = [item for item in found if (item.source, str(item.item_id)) != (source, item_id)]
    return next(iter(describe(others[:1], float("inf"))), None)


def describe(items: Iterable[QueueItem], late_after: float, suffix: str = "") -> list[QueueRow]:
    """Put the items of one page in words; one query per table, whatever the number of rows."""
    items = list(items)
    words = tell(items)
    now = timezone.now()
    rows = []
    for item in items:
        key = (item.source, str(item.item_id))
        told = words.get(key) or Told(f"{item.source} {shown(item.item_id, 80)}", "", "")
        rows.append(
            QueueRow(
                source=item.source,
                item_id=str(item.item_id),
                kind=told.kind or kind_of(item.source, item.kind),
                what=told.what,
                why=told.why,
                next=told.next,
                opened_at=item.opened_at,
                url=item_url(*key) + suffix,
                late=(now - item.opened_at).total_seconds() > late_after,
                chips=told.chips,
            )
        )
    return rows
