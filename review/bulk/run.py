"""Carrying sets out: one pass over the sets that run, item after item.

What is known of a set is in its rows alone, so a pass may be killed anywhere. An item is noted as
begun, decided by the same action as its button, and noted as ended. Where the end was not noted,
the next pass asks the audit whether the decision came through: its reason names the set and the
position, and stands nowhere else. Were it asked too early, the item's version refuses a second one.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db import DatabaseError, InterfaceError
from django.db.models.functions import Coalesce, Now

from ledger.errors import NotRecordedError
from ledger.models import AuditEvent
from review.access import record
from review.actions.carry import carry_out, find
from review.bulk import answers, orders
from review.bulk.choices import CHOICES, decision_of
from review.bulk_models import (
    BAD,
    CHANGED,
    EXCLUDED,
    FAILED,
    REFUSED,
    RUNNING,
    TAKEN,
    BulkItem,
    BulkSet,
)
from review.text import counted
from sweeper.ticks import Lock, Tick, tick

_LOG = logging.getLogger(__name__)

TICK: Final = "bulk"
# How often it shows that it lives while no set runs.
IDLE_SECONDS: Final = 60.0
# The passes double from the canary up to this.
WIDEST: Final = 100


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass did: how many items came to what."""

    sets: int
    taken: int
    not_taken: int

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once() -> Tick[Report]:
    """Give every running set its next few items, if nobody else does."""
    return tick(TICK, _pass, interval_seconds=IDLE_SECONDS)


def is_any_running() -> bool:
    """Say whether there is something to do."""
    return BulkSet.objects.filter(state=RUNNING).exists()


def _pass(lock: Lock) -> Report:
    running = list(BulkSet.objects.filter(state=RUNNING).order_by("started_at"))
    outcomes = [outcome for each in running for outcome in _slice(each, lock)]
    taken = outcomes.count(TAKEN)
    return Report(len(running), taken, len(outcomes) - taken)


def _slice(running: BulkSet, lock: Lock) -> list[str]:
    """Carry out the next few items of a set, then see how it stands."""
    came_to: list[str] = []
    if _is_spent(running):
        return came_to
    for item in _next(running):
        lock.keep()
        if not _may(running) or not _begin(item):
            return came_to
        came_to.append(_carry_out(running, item))
        if came_to[-1] in BAD and _is_spent(running):
            return came_to
    BulkSet.objects.filter(pk=running.pk).update(step=min(2 * running.step, WIDEST))
    if not running.items.filter(outcome="").exists():
        orders.finish(running.pk)
    elif not running.canary_seen and _tried(running) >= running.canary:
        orders.pause(running.pk, orders.OF_CANARY)
    return came_to


def _next(running: BulkSet) -> Iterable[BulkItem]:
    """Return what is due of a set: of the canary no more than it still lacks."""
    due = running.step if running.canary_seen else max(0, running.canary - _tried(running))
    return list(running.items.filter(outcome="").order_by("position")[:due])


def _tried(running: BulkSet) -> int:
    """Count what the ledger was really asked about: an item that had moved shows nothing."""
    return running.items.exclude(outcome__in=("", EXCLUDED, CHANGED)).count()


def _may(running: BulkSet) -> bool:
    """See that the person who started it still may; otherwise it rests, and that is recorded."""
    right, words = orders.missing(running)
    if not right:
        return True
    if orders.pause(running.pk, f"{running.made_by.get_username()} started it. {words}"):
        actor, page = running.made_by.get_username(), f"set {running.pk}"
        record.note(actor, "right_missing", right=right, page=page)
    return False


def _begin(item: BulkItem) -> bool:
    """Note that an item is begun, unless its set was paused or stopped or it ended meanwhile."""
    begun = BulkItem.objects.filter(pk=item.pk, outcome="", bulk_set__state=RUNNING)
    return bool(begun.update(started_at=Coalesce("started_at", Now())))


def _carry_out(running: BulkSet, item: BulkItem) -> str:
    """Decide one item, or find that it is decided; note what it came to and return that."""
    answer = _told_before(running, item) if item.started_at else ""
    broken = ""
    if not answer:
        try:
            answer = _ask(running, item)
        except (NotRecordedError, DatabaseError, InterfaceError):
            raise  # nothing is known: the next pass asks again
        except Exception:  # noqa: BLE001 - one bad item must not hold up the others
            _LOG.exception("an item of a set broke: set %s, %s", running.pk, item)
            broken = answers.BROKE
    if broken or answers.outcome_of(answer) in (CHANGED, REFUSED):
        answer = _told_before(running, item) or answer  # by ourselves, with a lost answer
    outcome = FAILED if broken and not answer else answers.outcome_of(answer)
    said = broken if outcome == FAILED else answers.said_of(answer, item.source)
    ended = BulkItem.objects.filter(pk=item.pk, outcome="")
    ended.update(outcome=outcome, answer=answer, said=said, ended_at=Now())
    return outcome


def _ask(running: BulkSet, item: BulkItem) -> str:
    """Ask the ledger through the action of the item's own button."""
    decision = decision_of(CHOICES[running.choice], item.source, item.kind)
    actor = running.made_by.get_username()
    form = {"lock_version": str(item.version), "reason": _reason(running, item)}
    row = find(item.source, item.item_id)
    if row is None or decision is None:
        return "already_done"
    form["decision"] = decision.decision
    return carry_out(item.source, row, decision.verb, actor, form).outcome


def _reason(running: BulkSet, item: BulkItem) -> str:
    """Return the reason kept with the decision; it names the item's place as nothing else does."""
    return f"{running.reason} [set {running.pk}, item {item.position} of {running.total}]"


def _told_before(running: BulkSet, item: BulkItem) -> str:
    """Return what the ledger answered when this item was decided for this set, if it was."""
    begun = BulkItem.objects.values_list("started_at", flat=True).get(pk=item.pk)
    found = AuditEvent.objects.filter(
        actor_kind="human",
        actor=running.made_by.get_username(),
        at__gte=begun,
        op__startswith="decide_",
        reason=_reason(running, item),
        row_count__gt=0,
    )
    return found.order_by("at", "id").values_list("outcome", flat=True).first() or ""


def _is_spent(running: BulkSet) -> bool:
    """Stop a set whose refusals have used up its budget."""
    bad = running.items.filter(outcome__in=BAD).count()
    if bad < running.budget:
        return False
    why = (
        f"{counted(bad, 'item')} came to nothing, which is all this set may. The rest was not "
        "touched: find out why, then choose it anew."
    )
    orders.stop(running.pk, why)
    return True
