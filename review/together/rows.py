"""What the rows of the queue say of how people share them."""

from collections.abc import Iterable
from typing import Protocol

from django.utils import timezone

from review.language import _, plural
from review.text import age, shown
from review.together import state


class Named(Protocol):
    """What names an item."""

    @property
    def source(self) -> str:
        """Return its source."""

    @property
    def item_id(self) -> str:
        """Return its id."""


def chips_of(rows: Iterable[Named]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Label the rows of one page: who has it and for how long, and what is put off."""
    shared = state.of_items((row.source, row.item_id) for row in rows)
    return {item: tuple(_chips(each)) for item, each in shared.items()}


def _chips(shared: state.Shared) -> Iterable[str]:
    now = timezone.now()
    if shared.claimed_until:
        left = age((shared.claimed_until - now).total_seconds())
        yield _("{who} has it, {age}").format(who=shown(shared.claimed_by, 40), age=left)
    if shared.snoozed_until:
        left = age((shared.snoozed_until - now).total_seconds())
        yield _("put off, {age}").format(age=left)


def put_off_words(number: int) -> str:
    """Say how many items the queue hides because people put them off."""
    if not number:
        return ""
    return plural(
        "{number} item put off for later, not shown",
        "{number} items put off for later, not shown",
        number,
        capped=number >= state.PUT_OFF_CAP,
    )
