"""The rows of the pages for many items: sets, items of a set, and how a set stands. Reads only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.http import urlencode

from review.bulk import answers
from review.bulk.choices import CHOICES
from review.bulk_models import (
    BAD,
    CHANGED,
    DONE,
    EXCLUDED,
    PAUSED,
    PREVIEW,
    PROPOSED,
    RUNNING,
    STOPPED,
    TAKEN,
    BulkItem,
    BulkSet,
)
from review.items.addresses import item_url
from review.items.parts import Chip
from review.language import _, grouped, later, plural
from review.text import shown
from review.together.rows import chips_of
from review.verbs import kind_of

_SETS, _ITEMS = 50, 100

STATES: Final = {
    PREVIEW: Chip(later("not started"), "plain", "◌"),
    RUNNING: Chip(later("running"), "warn", "▶"),
    PAUSED: Chip(later("paused"), "unknown", "‖"),
    STOPPED: Chip(later("stopped"), "bad", "■"),
    DONE: Chip(later("finished"), "ok", "✓"),
}
# What is done with the items of a set, by the word of its choice.
_DEEDS: Final = {
    "keep": later("keep what is stored"),
    "acknowledge": later("acknowledge"),
    "resend": later("resend"),
    "abandon": later("abandon"),
}


@dataclass(frozen=True, slots=True)
class SetRow:
    """One set of the list."""

    number: int
    url: str
    chip: Chip
    what: str
    who: str
    at: Any
    came: str


def sets(before: str) -> dict[str, Any]:
    """Return one page of the sets, the newest first."""
    rows = BulkSet.objects.select_related("made_by").order_by("-pk")
    if before.isascii() and before.isdigit() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    counted = rows.annotate(
        taken=Count("items", filter=Q(items__outcome=TAKEN)),
        bad=Count("items", filter=Q(items__outcome__in=BAD)),
        rest=Count("items", filter=Q(items__outcome__in=(PROPOSED, CHANGED, EXCLUDED))),
    )
    found = list(counted[: _SETS + 1])
    older = f"?before={found[_SETS - 1].pk}" if len(found) > _SETS else ""
    return {"rows": [_row(each) for each in found[:_SETS]], "older_url": older}


def _row(each: Any) -> SetRow:
    choice = CHOICES[each.choice].label if each.choice else _("Not decided")
    came = _("{taken} done, {bad} refused, {rest} other").format(
        taken=grouped(each.taken), bad=grouped(each.bad), rest=grouped(each.rest)
    )
    return SetRow(
        each.pk,
        reverse("admin:review_bulk_set", args=[each.pk]),
        STATES[each.state],
        plural("{choice}: {number} item", "{choice}: {number} items", each.total, choice=choice),
        shown(each.made_by.get_username(), 80),
        each.started_at or each.made_at,
        "" if each.state == PREVIEW else came,
    )


def items(found: BulkSet, query: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of a set's items, in their order, of one outcome or of all."""
    rows, wanted = found.items.order_by("position"), query.get("outcome")
    if wanted is not None:
        rows = rows.filter(outcome={"waits": ""}.get(wanted, wanted))
    after = query.get("after", "")
    if after.isascii() and after.isdigit() and len(after) < 9:
        rows = rows.filter(position__gt=int(after))
    page = list(rows[: _ITEMS + 1])
    holders = chips_of(page[:_ITEMS]) if found.state == PREVIEW else {}
    kept: dict[str, str | int] = {"outcome": wanted} if wanted is not None else {}
    next_url = ""
    if len(page) > _ITEMS:
        next_url = "?" + urlencode({**kept, "after": page[_ITEMS - 1].position})
    return {
        "items": [
            _item(each) | {"held": holders.get((each.source, each.item_id), ())}
            for each in page[:_ITEMS]
        ],
        "next_url": next_url,
    }


def _item(each: BulkItem) -> dict[str, Any]:
    return {
        "position": each.position,
        "what": shown(each.what, 200),
        "kind": kind_of(each.source, each.kind),
        "version": each.version,
        "url": item_url(each.source, each.item_id),
        "chip": answers.CHIPS[each.outcome],
        "said": each.said,
        "at": each.ended_at,
    }


def standing(found: BulkSet, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return how far a set is, in figures that add up to its size."""
    left = counts.get("", 0)
    over = found.total - left
    title = plural(
        "Set {set}: {deed} {number} item",
        "Set {set}: {deed} {number} items",
        found.total,
        set=found.pk,
        deed=_DEEDS[found.choice],
    )
    return {
        "title": title,
        "state": STATES[found.state],
        "over": over,
        "figures": [
            (chip, counts.get(word, 0), "?" + urlencode({"outcome": word or "waits"}))
            for word, chip in answers.CHIPS.items()
            if counts.get(word)
        ],
        "running": found.state == RUNNING,
        "paused": found.state == PAUSED,
        "is_open": found.state in (RUNNING, PAUSED),
        "tone": {STOPPED: "bad", PAUSED: "unknown", DONE: "ok"}.get(found.state, "warn"),
    }
