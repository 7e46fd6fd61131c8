"""What the page of an item shows of how people share it: the panel, and lines of the timeline."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.utils import dateformat, timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString

from review.items.addresses import item_url
from review.items.offers import lacking
from review.items.page import Entry, ItemPage
from review.language import _, later, plural
from review.models import Note
from review.people import People
from review.rights import CLAIM, COMMENT
from review.text import age, shown
from review.together import state
from review.together.deeds import LEASE, LONGEST, SNOOZES

_TOLD = {
    "claimed": later("{who} has it now"),
    "kept": later("{who} keeps it"),
    "released": later("{who} gave it back to all"),
    "commented": later("{who} said"),
    "woken": later("{who} put it back into the queue"),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """How people share one item, for one of them."""

    mine: bool
    holder: str | SafeString
    shared: state.Shared
    here: tuple[tuple[str | SafeString, datetime], ...]
    url: str
    snoozes: tuple[tuple[str, str], ...]
    happened: int | None
    longest: int
    lease: str
    no_claim: str
    no_comment: str

    @property
    def times_left(self) -> int:
        """How many times more it has to happen until it is back."""
        return max(0, (self.shared.ignored_until or 0) - (self.happened or 0))


def panel(source: str, item_id: str, viewer: AbstractUser | AnonymousUser, people: People) -> Panel:
    """Read how people share an item; a fixed number of queries."""
    me = viewer.get_username()
    shared = state.of_item(source, item_id)
    return Panel(
        mine=shared.claimed_by == me,
        holder=people.name(shared.claimed_by, "human") if shared.claimed_by else "",
        shared=shared,
        here=tuple(
            (people.name(each.by, "human"), each.at)
            for each in state.others_here(source, item_id, me)
        ),
        url=item_url(source, item_id),
        snoozes=tuple((word, label) for word, (label, _span) in SNOOZES.items()),
        happened=state.times_happened(source, item_id),
        longest=LONGEST,
        lease=age(LEASE.total_seconds()),
        no_claim=lacking(viewer, CLAIM),
        no_comment=lacking(viewer, COMMENT),
    )


def with_notes(page: ItemPage, people: People) -> ItemPage:
    """Put what people said and agreed into the timeline, where it happened."""
    lines = [*page.timeline, *(entry(each, people) for each in _notes(page))]
    return replace(page, timeline=sorted(lines, key=lambda line: line.at))


def _notes(page: ItemPage) -> Iterable[Note]:
    return state.notes(page.source, page.item_id)


def entry(note: Note, people: People) -> Entry:
    """Put one note in words."""
    who = format_html("<b><bdi>{}</bdi></b>", people.name(note.by, "human"))
    said = _("“{text}”").format(text=shown(note.text, LONGEST)) if note.text else ""
    return Entry(note.at, "", _deed(who, note.deed, people), said)


def _deed(who: SafeString, deed: str, people: People) -> SafeString:
    word, _colon, more = deed.partition(":")
    if word == "took over":
        holder = people.name(more, "human")
        return format_html(_("{who} took it over from {holder}"), who=who, holder=holder)
    if word == "ignored":
        number = int(more) if more.isdigit() else 0
        times = plural("{number} more time", "{number} more times", number)
        return format_html(_("{who} put it off until it happens {times}"), who=who, times=times)
    if word == "snoozed" and (until := parse_datetime(more)):
        time = dateformat.format(timezone.localtime(until), "j M H:i")
        return format_html(_("{who} put it off until {time}"), who=who, time=time)
    return format_html(_TOLD.get(word, "{who} {word}"), who=who, word=shown(word, 40))
