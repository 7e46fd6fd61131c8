"""The sweeps and locks: everything periodic, one row a tick."""

from datetime import datetime

from review.explore.shapes import Line
from review.items import ticks
from review.items.addresses import item_url
from review.text import shown


def lines(now: datetime) -> list[Line]:
    """Put every tick in words."""
    return [_line(tick, now) for tick in ticks.every()]


def _line(tick: ticks.Tick, now: datetime) -> Line:
    lock = tick.lock
    held = (
        f"{shown(lock.holder, 60)} · fence {lock.fence}" if lock and lock.holder else "never held"
    )
    return Line(
        what=tick.title,
        url=item_url("tick", tick.pk),
        why=f"{tick.does} Last: {tick.did()}.".strip(),
        chips=(tick.chip(now),),
        at=tick.beat.last_success_at if tick.beat else None,
        late=tick.late(now),
        last=held,
    )
