"""The sweeps and locks: everything periodic, one row a tick."""

from datetime import datetime

from review.explore.shapes import Line
from review.items import ticks
from review.items.addresses import item_url
from review.language import _
from review.text import shown


def lines(now: datetime) -> list[Line]:
    """Put every tick in words."""
    return [_line(tick, now) for tick in ticks.every()]


def _line(tick: ticks.Tick, now: datetime) -> Line:
    lock = tick.lock
    held = _("never held")
    if lock and lock.holder:
        fence = _("fence {number}").format(number=lock.fence)
        held = f"{shown(lock.holder, 60)} · {fence}"
    did = _("Last: {what}.").format(what=tick.did())
    return Line(
        what=tick.title,
        url=item_url("tick", tick.pk),
        why=f"{tick.does} {did}".strip(),
        chips=(tick.chip(now),),
        at=tick.beat.last_success_at if tick.beat else None,
        late=tick.late(now),
        last=held,
    )
