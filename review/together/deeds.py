"""What people do about items without deciding them: have one, say something, put one off.

One mechanism: a deed is checked, changes the one row of agreements of its item under a lock, and
is noted once for all to read, in the same transaction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from review.errors import HeldError, IncompleteError
from review.language import _, grouped, later
from review.models import Attention, Note, Presence
from review.rights import CLAIM, COMMENT
from review.text import age, shown
from review.together import state

LEASE: Final = timedelta(minutes=30)
LONGEST: Final = 2_000
MOST_NOTES: Final = 500
SNOOZES: Final[Mapping[str, tuple[str, timedelta]]] = {
    "1h": (later("1 hour"), timedelta(hours=1)),
    "4h": (later("4 hours"), timedelta(hours=4)),
    "1d": (later("1 day"), timedelta(days=1)),
    "7d": (later("7 days"), timedelta(days=7)),
}
_MOST_TIMES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A deed as somebody asks for it: who, about which item, with what typed."""

    by: str
    source: str
    item_id: str
    form: Mapping[str, str]
    at: datetime

    @property
    def text(self) -> str:
        """Return what was typed as the reason or the comment."""
        return self.form.get("text", "").strip()


type Change = Callable[[Attention, Asked], str]


@dataclass(frozen=True, slots=True)
class Deed:
    """One deed: the right it needs, what it is, what it changes, and whether it needs words.

    What it is is said to programs; what asks for the words, to people.
    """

    right: str
    says: str
    change: Change
    words: str = ""


def do(name: str, asked: Asked) -> None:
    """Carry a deed out and note it, or say what is missing; both or nothing."""
    deed = DEEDS[name]
    text = asked.text
    if deed.words and not text:
        raise IncompleteError({"text": str(deed.words)})
    if len(text) > LONGEST or "\x00" in text:
        most = _("Write at most {most} characters, without NUL.").format(most=grouped(LONGEST))
        raise IncompleteError({"text": most})
    with transaction.atomic():
        row = _locked(asked)
        if Note.objects.filter(source=asked.source, item_id=asked.item_id).count() >= MOST_NOTES:
            raise IncompleteError({"text": _("Enough is noted about this item. Decide it.")})
        told = deed.change(row, asked)
        row.save()
        Note.objects.create(
            source=asked.source, item_id=asked.item_id, deed=told, by=asked.by, text=text
        )


def _locked(asked: Asked) -> Attention:
    """Return the item's row of agreements, locked; whoever comes second waits for the first."""
    number = int(asked.item_id) if asked.source in state.NUMBERED else None
    Attention.objects.bulk_create(
        [Attention(source=asked.source, item_id=asked.item_id, number=number)],
        ignore_conflicts=True,
    )
    return Attention.objects.select_for_update().get(source=asked.source, item_id=asked.item_id)


def _holder(row: Attention, asked: Asked) -> str:
    held = row.claimed_until is not None and row.claimed_until > asked.at
    return row.claimed_by if held else ""


def _claim(row: Attention, asked: Asked) -> str:
    holder = _holder(row, asked)
    if holder and holder != asked.by and row.claimed_until:
        left = age((row.claimed_until - asked.at).total_seconds())
        words = _("{holder} has it for {age} more. Take it over, with a reason.")
        raise HeldError({"text": words.format(holder=shown(holder, 60), age=left)})
    row.claimed_by, row.claimed_until = asked.by, asked.at + LEASE
    return "kept" if holder == asked.by else "claimed"


def _take_over(row: Attention, asked: Asked) -> str:
    holder = _holder(row, asked)
    row.claimed_by, row.claimed_until = asked.by, asked.at + LEASE
    return f"took over:{holder}" if holder and holder != asked.by else "claimed"


def _release(row: Attention, asked: Asked) -> str:
    if _holder(row, asked) != asked.by:
        raise IncompleteError({"text": _("You do not have it any more.")})
    row.claimed_by, row.claimed_until = "", None
    return "released"


def _comment(_row: Attention, _asked: Asked) -> str:
    return "commented"


def _snooze(row: Attention, asked: Asked) -> str:
    if asked.form.get("until") not in SNOOZES:
        raise IncompleteError({"until": _("Choose how long.")})
    _label, span = SNOOZES[asked.form["until"]]
    row.snoozed_until, row.ignored_until = asked.at + span, None
    row.put_off_by = asked.by
    return f"snoozed:{row.snoozed_until.isoformat()}"


def _ignore(row: Attention, asked: Asked) -> str:
    happened = state.times_happened(asked.source, asked.item_id)
    times = asked.form.get("times", "").strip()
    if happened is None:
        raise IncompleteError({"times": _("Nobody counts how often this happens; choose a time.")})
    if not (times.isascii() and times.isdigit() and 1 <= len(times) <= 4):
        raise IncompleteError({"times": _("Type how many times more.")})
    if not 1 <= int(times) <= _MOST_TIMES:
        words = _("Type a number from 1 to {most}.")
        raise IncompleteError({"times": words.format(most=grouped(_MOST_TIMES))})
    row.snoozed_until, row.ignored_until = None, happened + int(times)
    row.put_off_by = asked.by
    return f"ignored:{int(times)}"


def _wake(row: Attention, _asked: Asked) -> str:
    row.snoozed_until, row.ignored_until, row.put_off_by = None, None, ""
    return "woken"


_WHY_IT_WAITS: Final = later("Say why it can wait; others read it.")
DEEDS: Final[Mapping[str, Deed]] = {
    "claim": Deed(CLAIM, "Claim an item, or keep it longer", _claim),
    "take-over": Deed(
        CLAIM,
        "Take an item over from who has it",
        _take_over,
        later("Say why you take it over; its holder reads it."),
    ),
    "release": Deed(CLAIM, "Give an item back", _release),
    "comment": Deed(COMMENT, "Comment on an item", _comment, later("Write the comment first.")),
    "snooze": Deed(CLAIM, "Put an item off for a time", _snooze, _WHY_IT_WAITS),
    "ignore": Deed(
        CLAIM,
        "Put an item off until it happens more often",
        _ignore,
        _WHY_IT_WAITS,
    ),
    "wake": Deed(CLAIM, "Put an item back into the queue", _wake),
}


def look(by: str, source: str, item_id: str) -> None:
    """Note that somebody has the page of an item open; forget where they were long ago."""
    now = timezone.now()
    Presence.objects.filter(by=by, at__lt=now - timedelta(seconds=10 * state.PRESENT_S)).delete()
    Presence.objects.bulk_create(
        [Presence(source=source, item_id=item_id, by=by, at=now)],
        update_conflicts=True,
        update_fields=["at"],
        unique_fields=["source", "item_id", "by"],
    )
