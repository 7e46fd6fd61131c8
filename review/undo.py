"""The undo line: a resend can be taken back for some seconds, from whatever page comes next.

Kept in the person's session, so that it follows them; the ledger alone decides whether it still
can be taken back.
"""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

_KEY = "undo"


@dataclass(frozen=True, slots=True)
class UndoLine:
    """What can be taken back, and until when."""

    conflict_id: int
    lock_version: int
    until: datetime
    title: str


def remember(request: HttpRequest, line: UndoLine) -> None:
    """Offer to take this back on the pages that follow."""
    request.session[_KEY] = {
        "conflict_id": line.conflict_id,
        "lock_version": line.lock_version,
        "until": line.until.isoformat(),
        "title": line.title,
    }


def forget(request: HttpRequest) -> None:
    """Offer nothing any more."""
    request.session.pop(_KEY, None)


def pending(request: HttpRequest) -> UndoLine | None:
    """Return what can still be taken back by this person, if anything."""
    kept = request.session.get(_KEY)
    until = parse_datetime(kept["until"]) if kept else None
    if kept is None or until is None or until <= timezone.now():
        return None
    return UndoLine(kept["conflict_id"], kept["lock_version"], until, kept["title"])
