"""Resending with changed content through a door: like its page, it sends only what it has shown.

The first call says what would differ and gives a seal; the same call with the seal sends exactly
that.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from django.utils import timezone

from review.actions import edit as action
from review.actions.carry import find
from review.actions.gate import require
from review.decisions import EVENT, REASON, RISK
from review.doors.shapes import VERSION, Asked, Told, UnknownError, Verb
from review.edits import page as edits
from review.edits.ways import NEW, SAME, subject_of
from review.errors import IncompleteError
from review.items.page import Banner
from review.rights import EDIT_PAYLOAD, VIEW_PAYLOAD
from review.views.outcome import told_of

_SOURCES: Final = ("conflict", "failed_job")
_SHOW_FIRST: Final = Banner(
    "warn",
    "Not sent yet",
    "What differs is in the detail.",
    "Ask again with its seal as “shown” to send exactly that.",
)


def verbs() -> Iterator[Verb]:
    """Return the verb of each page that has such a form."""
    for source in _SOURCES:
        yield Verb(
            f"/queue/{source}/{{item_id}}/edit",
            "Resend with changed content, once its difference was shown",
            {
                edits.PAYLOAD: "any!",
                edits.KEY: f"enum:{SAME}|{NEW}!",
                EVENT: "object",
                VERSION: "id!",
                REASON: "prose!",
                RISK: "bool",
                edits.SHOWN: "text",
            },
            partial(_run, source),
            EDIT_PAYLOAD,
            gate="resend",
        )


def _run(source: str, asked: Asked) -> Told:
    require(asked.user, VIEW_PAYLOAD)
    row = find(source, asked.path["item_id"])
    if row is None:
        raise UnknownError("No such item. It may have been decided and cleaned up.")
    built = edits.page(subject_of(source, row, timezone.now()), asked.form)
    if built.closed:
        raise IncompleteError({edits.PAYLOAD: built.closed})
    if built.problems:
        raise IncompleteError(built.problems)
    if asked.form.get(edits.SHOWN) != built.seal:
        differs = [each.row.name for each in built.part.rows] if built.part else []
        return Told("rule_failed", _SHOW_FIRST, {"shown": built.seal, "differs": differs})
    attempt = action.run(built, asked.name, asked.form)
    waits = getattr(find(source, asked.path["item_id"]), "waiting_since", None) is not None
    kind = getattr(row, "kind", source)
    return Told(attempt.outcome, told_of(attempt, source, kind, waits=waits), dict(attempt.detail))
