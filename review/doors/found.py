"""The row at an address of a door, and how the door tells what came of a decision about it."""

from typing import Any

from review.actions.base import Attempt
from review.actions.carry import find
from review.doors.shapes import Told, UnknownError
from review.setup import SETUP
from review.sources import SOURCES
from review.views.outcome import told_of


def item_of(source: str, item_id: str) -> Any:
    """Return the row of an item of the queue, or say that there is none."""
    return row_of(source if source in ("conflict", *SOURCES) else "", item_id)


def row_of(source: str, item_id: str) -> Any:
    """Return the row of an item or of a part of the set-up, or say that there is none."""
    row = find(source, item_id) if source in ("conflict", *SOURCES, *SETUP) else None
    if row is None:
        raise UnknownError("No such item. It may have been decided and cleaned up.")
    return row


def told(attempt: Attempt, source: str, row: Any) -> Told:
    """Tell it in the words of the item's page; whether it still waits is read anew."""
    waits = getattr(find(source, str(row.pk)), "waiting_since", None) is not None
    banner = told_of(attempt, source, getattr(row, "kind", source), waits=waits)
    return Told(attempt.outcome, banner, dict(attempt.detail))
