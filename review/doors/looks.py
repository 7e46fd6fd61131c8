"""Looking through a door: a page of the queue, what may be done with one item, the audit.

No content: what stands in payloads and fields is on the item's page, for who may see it.
"""

from collections.abc import Iterator
from typing import Any, Final

from django.utils.http import urlencode

from review.access import record
from review.doors.found import item_of
from review.doors.shapes import Asked, Told, Verb
from review.explore import audit
from review.filters import WORDS, Ground, QueueFilter
from review.items import conflict as conflicts
from review.items import other
from review.items.page import Banner, ItemPage, Offer
from review.misses import refused_words
from review.policy import policies
from review.queue import QueueRow, page
from review.rights import VIEW
from review.text import counted
from review.together import state
from review.verbs import AS_SHOWN
from review.views.audit import KEPT, values_of

# More is taken at the page, which streams.
_MOST_ROWS: Final = 5_000


def verbs() -> Iterator[Verb]:
    """Return what is looked at."""
    yield Verb(
        "/queue",
        "Look at the queue, under the words of its address",
        dict.fromkeys((*WORDS, "after"), "text"),
        _queue,
        VIEW,
        method="GET",
    )
    yield Verb(
        "/queue/{source}/{item_id}",
        "Look at an item: its version, and what may be done with it",
        {},
        _item,
        VIEW,
        method="GET",
    )
    yield Verb(
        "/audit/export",
        f"Take the audit, {_MOST_ROWS:,} rows at most, under the words of its page",
        dict.fromkeys(KEPT, "text"),
        _export,
        VIEW,
        method="GET",
    )


def _export(asked: Asked) -> Told:
    """Record that it is taken, as its page does, then give it."""
    want = audit.wanted(asked.form)
    if want.problem:
        return Told("invalid", Banner("bad", "Not understood", want.problem))
    words = urlencode(asked.form) or "everything"
    record.note(asked.name, "audit_exported", subject="audit", reason=words, page="audit/export")
    rows = [values_of(row) for row in audit.each(want, _MOST_ROWS)]
    said = f"{counted(len(rows), 'row')}, newest first."
    cut = "Narrow the time to take the rest." if len(rows) == _MOST_ROWS else ""
    return Told("won", Banner("ok", "The audit", said, cut), {"rows": rows})


def _queue(asked: Asked) -> Told:
    words = {name: value for name, value in asked.form.items() if name in WORDS}
    filters = QueueFilter(words, Ground(asked.user))
    if filters.errors:
        said = refused_words(filters.form.errors, words)
        return Told("invalid", Banner("bad", "Not understood", said))
    late_after = policies()["pending_page_s"]
    found = page(filters.qs, asked.form.get("after", ""), late_after, newest=filters.newest)
    detail = {"items": [_row(row) for row in found.rows], "after": found.after}
    return Told("won", Banner("ok", "The queue", f"{len(found.rows)} items."), detail)


def _row(row: QueueRow) -> dict[str, Any]:
    return {
        "source": row.source,
        "item_id": row.item_id,
        "kind": str(row.kind.label),
        "what": row.what,
        "why": row.why,
        "next": row.next,
        "waits_since": row.opened_at.isoformat(),
    }


def _item(asked: Asked) -> Told:
    source, item_id = asked.path["source"], asked.path["item_id"]
    row = item_of(source, item_id)
    if source == "conflict":
        shown = conflicts.page(row, asked.user)
    else:
        shown = other.page(source, row, asked.user)
    return Told("won", Banner("ok", shown.title, ""), _facts(shown))


def _facts(shown: ItemPage) -> dict[str, Any]:
    shared = state.of_item(shown.source, shown.item_id)
    return {
        "kind": str(shown.kind.label),
        "lock_version": shown.lock_version,
        "revision_seen": shown.revision_seen,
        "waits_since": shown.opened_at.isoformat() if shown.opened_at else "",
        "held_by": shared.claimed_by,
        "put_off": shared.put_off,
        "decisions": [_decision(offer) for offer in shown.offers],
    }


def _decision(offer: Offer) -> dict[str, Any]:
    word = offer.decision.decision
    return {
        "verb": offer.decision.verb,
        "decision": "apply or merge" if word == AS_SHOWN else word,
        "does": offer.blast,
        "not_now": offer.disabled,
    }
