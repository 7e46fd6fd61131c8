"""What a person orders of a set: start, pause, go on, stop; and whether they still may.

Each order is one guarded update: of two at once one holds, and an order that came too late changes
nothing.
"""

from collections.abc import Iterable
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from review.access import second_factor
from review.bulk.choices import CHOICES, Choice
from review.bulk.consequences import Frozen, why_not
from review.bulk_models import (
    DONE,
    EXCLUDED,
    PAUSED,
    PREVIEW,
    RUNNING,
    STOPPED,
    BulkItem,
    BulkSet,
)
from review.items.offers import lacking, without_second_factor
from review.policy import policies
from review.rights import BULK, VIEW

# With the set's number and the position behind it this fits where one person's reason does.
REASON_LIMIT: Final = 1_900
OF_CANARY: Final = "The first of them are done. Look at what they came to, then let the rest go on."


def start(chosen: BulkSet, choice: Choice, reason: str, *, verified: bool) -> bool:
    """Let a frozen set run; what the choice is not for is left out, with the reason."""
    left = [
        (item, why)
        for item in chosen.items.filter(outcome="")
        if (why := why_not(choice, frozen(item)))
    ]
    current = policies()
    canary = max(1, int(current["bulk_canary"]))
    waiting = BulkSet.objects.filter(pk=chosen.pk, state=PREVIEW)
    with transaction.atomic():
        started = waiting.update(
            state=RUNNING,
            choice=choice.word,
            reason=reason,
            verified=verified,
            started_at=Now(),
            canary=canary,
            canary_seen=chosen.total - len(left) <= canary,
            step=canary,
            budget=max(1, int(current["bulk_refusals"])),
        )
        if started:
            _leave_out(left)
    return bool(started)


def pause(number: int, why: str) -> bool:
    """Let a running set rest after the item it is at."""
    return _move(number, (RUNNING,), state=PAUSED, why=why)


def go_on(chosen: BulkSet, *, verified: bool) -> bool:
    """Let a paused set run again; whoever says so has seen what the first ones came to."""
    return _move(chosen.pk, (PAUSED,), state=RUNNING, why="", canary_seen=True, verified=verified)


def stop(number: int, why: str) -> bool:
    """End a set for good; what was not touched stays untouched."""
    return _move(number, (RUNNING, PAUSED), state=STOPPED, why=why, ended_at=Now())


def finish(number: int) -> bool:
    """End a set in which nothing waits any more."""
    return _move(number, (RUNNING,), state=DONE, why="", ended_at=Now())


def _move(number: int, before: tuple[str, ...], **values: object) -> bool:
    return bool(BulkSet.objects.filter(pk=number, state__in=before).update(**values))


def missing(running: BulkSet) -> tuple[str, str]:
    """Say which right the person who started it lacks by now, and in which words; or nothing."""
    choice = CHOICES[running.choice]
    person = User.objects.filter(pk=running.made_by_id, is_active=True).first()
    if person is None:
        return VIEW, "The account of the person who started it is closed."
    for right in (VIEW, BULK, choice.right):
        if words := lacking(person, right):
            return right, words
    if running.verified and second_factor.device_of(person) is not None:
        return "", ""
    if second_factor.missing(person, choice.verb):
        return choice.right, without_second_factor()
    return "", ""


def frozen(item: BulkItem) -> Frozen:
    """Return what is asked of an item before a start."""
    return Frozen(item.source, item.kind, item.bars)


def _leave_out(items: Iterable[tuple[BulkItem, str]]) -> None:
    rows = []
    for item, why in items:
        item.outcome, item.said = EXCLUDED, why
        rows.append(item)
    BulkItem.objects.bulk_update(rows, ["outcome", "said"])
