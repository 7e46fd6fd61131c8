"""Signs of life for the top of the queue: does what feeds it run, and what did it prevent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from ledger.models import AuditEvent, Liveness, Workflow
from review.language import _, grouped, later
from review.queue import COUNT_CAP
from review.text import age

_NAMES: Final[Mapping[str, str]] = {
    "sweep": later("last sweep"),
    "reconcile": later("last reconcile"),
    "promote_conflicts": later("queue refreshed"),
    "seal_audit": later("audit sealed"),
}
# The ticks a person has to know of; the others are on the health page.
_SHOWN: Final = ("sweep", "reconcile", "promote_conflicts")


@dataclass(frozen=True, slots=True)
class Vital:
    """One sign of life: its tone, what it is, its value, and the words around it."""

    tone: str
    label: str
    value: str
    after: str = ""
    at: datetime | None = None


def vitals() -> list[Vital]:
    """Return the ticks' ages and the two zero-row counters."""
    now = timezone.now()
    beats = {beat.name: beat for beat in Liveness.objects.filter(name__in=_SHOWN)}
    signs = [_beat(_NAMES[name], beats[name], now) for name in _SHOWN if name in beats]
    if "sweep" not in beats:
        signs.insert(0, Vital("warn", _NAMES["sweep"], _("none yet"), _("· start the worker")))
    return [*signs, *counters(now)]


def _beat(label: str, beat: Liveness, now: datetime) -> Vital:
    seconds = (now - beat.last_success_at).total_seconds()
    told = _("{age} ago").format(age=age(seconds))
    late = seconds > 2 * beat.interval_seconds + beat.jitter_seconds
    return Vital("bad" if late else "ok", label, told, at=beat.last_success_at)


def counters(now: datetime) -> list[Vital]:
    """Count today's retried writes: those that won, and those whose rule no longer held."""
    workflows = list(Workflow.objects.values_list("name", flat=True)[:COUNT_CAP])
    rows = AuditEvent.objects.filter(
        workflow__in=workflows, op="write_fields", after_retry=True, at__gte=now - timedelta(days=1)
    )
    won = rows.filter(outcome="won").order_by()[: COUNT_CAP + 1].count()
    failed = rows.filter(outcome="rule_failed").order_by()[: COUNT_CAP + 1].count()
    return [
        Vital("", _("lost, retried and won"), _capped(won), _("in 24 h")),
        Vital("", _("rule no longer true"), _capped(failed), _("in 24 h")),
    ]


def _capped(number: int) -> str:
    return f"{grouped(COUNT_CAP)}+" if number > COUNT_CAP else str(number)
