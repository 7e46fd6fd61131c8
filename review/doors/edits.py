"""Resending with changed content through a door: like its page, it sends only what it has shown.

The first call says what would differ and gives a seal; the same call with the seal sends exactly
that.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from django.utils import timezone

from review.actions import edit as action
from review.actions.gate import require
from review.decisions import EVENT, REASON, RISK
from review.doors.found import row_of, told
from review.doors.shapes import VERSION, Asked, Told, Verb
from review.edits import page as edits
from review.edits.ways import NEW, SAME, subject_of
from review.items.page import Banner
from review.rights import EDIT_PAYLOAD, VIEW_PAYLOAD

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
            source=source,
        )


def _run(source: str, asked: Asked) -> Told:
    require(asked.user, VIEW_PAYLOAD)
    row = row_of(source, asked.path["item_id"])
    built = edits.page(subject_of(source, row, timezone.now()), asked.form)
    change = edits.change_of(built)
    if asked.form.get(edits.SHOWN) != change.seal:
        differs = [each.row.name for each in change.part.rows]
        return Told("rule_failed", _SHOW_FIRST, {"shown": change.seal, "differs": differs})
    return told(action.run(built, asked.name, asked.form), source, row)
