"""The ticks: everything periodic, who runs it now, when it last ended well, and what it did."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.text import capfirst

from ledger.models import Liveness, SweepLock
from review.items.page import Fact
from review.items.parts import Chip
from review.language import _, later
from review.text import age, shown
from sweeper.schedules import ENTRIES

# What a tick is called within a sentence, and what it does.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "sweep": (
        later("the sweep"),
        later("Takes jobs whose lease is over, asks their providers, and decides."),
    ),
    "reconciler": (
        later("the reconciler"),
        later("Asks the engine about running runs, and ends what it may."),
    ),
    "drift": (
        later("the watch for drift"),
        later("Asks n8n whether it runs what was deployed."),
    ),
    "promote_conflicts": (
        later("the queue's refresh"),
        later("Puts what waits too long into the queue."),
    ),
    "seal_audit": (
        later("the audit's seal"),
        later("Seals the audit rows written since the last seal."),
    ),
    "dlq_retry": (
        later("the retry of dead letters"),
        later("Tries dead letters again that are due."),
    ),
    "relay_outbox": (later("the outbox"), later("Delivers the messages that are due.")),
    "archive_keys": (
        later("the archive of keys"),
        later("Moves keys past their life into the archive."),
    ),
    "purge_jobs": (
        later("the purge of jobs"),
        later("Drops finished jobs whose key went long ago."),
    ),
    "purge_archive": (
        later("the purge of the archive"),
        later("Forgets archived keys where that is signed."),
    ),
    "bulk": (
        later("the bulk run"),
        later("Carries out the sets of items that people decide together."),
    ),
}
# Figures of a report that are about how it ran, not what it did.
_ASIDE: Final = frozenset({"seconds", "out_of_time", "deaths"})


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick: its lock and its proof of life, where it has run."""

    pk: str
    lock: SweepLock | None = None
    beat: Liveness | None = None

    @property
    def title(self) -> str:
        """Call it by what people know it by; a name nobody has words for stays as it is."""
        named = self.pk in _WORDS or self.pk.startswith("check:")
        return capfirst(self.name) if named else self.name

    @property
    def name(self) -> str:
        """Call it by the same within a sentence."""
        what = shown(self.pk.removeprefix("check:"), 80)
        if self.pk.startswith("check:"):
            return _("the check of the {what}").format(what=what)
        return str(_WORDS.get(self.pk, (what, ""))[0])

    @property
    def does(self) -> str:
        """Say what it does."""
        return str(_WORDS.get(self.pk, ("", ""))[1])

    def runs(self, now: datetime) -> bool:
        """Say whether somebody runs it at the moment."""
        lock = self.lock
        return bool(lock and lock.lease_expires_at and lock.lease_expires_at > now)

    def late(self, now: datetime) -> bool:
        """Say whether it should have ended well since."""
        beat = self.beat
        if beat is None:
            return True
        most = 2 * beat.interval_seconds + beat.jitter_seconds
        return (now - beat.last_success_at).total_seconds() > most

    def chip(self, now: datetime) -> Chip:
        """Name its state."""
        if self.runs(now):
            return Chip(_("running now"), "warn", "▶")
        if self.beat is None:
            return Chip(_("never ran"), "bad", "!")
        if self.late(now):
            return Chip(_("late"), "bad", "!")
        return Chip(_("on time"), "ok", "✓")

    def story(self, now: datetime) -> str:
        """Say what it does and how it stands."""
        if self.beat is None:
            never = _("It has never ended well here: start the worker.")
            return f"{self.does} {never}"
        since = age((now - self.beat.last_success_at).total_seconds())
        if self.late(now):
            ended = _(
                "It last ended well {age} ago. That is too long: see whether the worker runs."
            )
        else:
            ended = _("It last ended well {age} ago.")
        return f"{self.does} {ended.format(age=since)}"

    def did(self) -> str:
        """Say what the last pass counted."""
        report = self.beat.report if self.beat else None
        if not isinstance(report, dict):
            return _("no report yet")
        counts = [f"{name.replace('_', ' ')} {value}" for name, value in _counts(report)]
        return ", ".join(counts) or _("there was nothing to do")

    def why_not(self, now: datetime) -> str:
        """Say why it cannot be run here."""
        if self.pk not in RUNNABLE:
            return _("It is run by its own program only.")
        if self.runs(now) and self.lock:
            return _("{holder} runs it now.").format(holder=shown(self.lock.holder, 80))
        return ""


# What the schedules know, by the name of the tick: the task that runs it.
RUNNABLE: Final[Mapping[str, str]] = {entry.tick: entry.task for entry in ENTRIES}


def _counts(report: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return what a report counted that is not nothing."""
    return [
        (shown(name, 40), value)
        for name, value in report.items()
        if isinstance(value, int) and value and name not in _ASIDE
    ]


def every() -> list[Tick]:
    """Return every tick that ran here or is scheduled."""
    locks = {lock.name: lock for lock in SweepLock.objects.order_by("name")[:200]}
    beats = {beat.name: beat for beat in Liveness.objects.order_by("name")[:200]}
    names = [*RUNNABLE, *sorted((locks.keys() | beats.keys()) - RUNNABLE.keys())]
    return [Tick(name, locks.get(name), beats.get(name)) for name in names]


def find(name: str) -> Tick | None:
    """Return a tick by its name."""
    lock = SweepLock.objects.filter(pk=name).first()
    beat = Liveness.objects.filter(pk=name).first()
    return Tick(name, lock, beat) if name in RUNNABLE or lock or beat else None


def facts(tick: Tick) -> list[Fact]:
    """Return the lock's and the last report's figures."""
    lock, beat = tick.lock, tick.beat
    found = []
    if lock:
        found = [
            Fact(_("Holder"), shown(lock.holder, 120), mono=True),
            Fact(_("Fence"), str(lock.fence), _("grows with every holder")),
            Fact(_("Taken"), at=lock.acquired_at),
            Fact(_("Lease ends"), at=lock.lease_expires_at),
            Fact(_("Ended"), at=lock.last_finished_at),
        ]
    if beat:
        found += [
            Fact(_("Ended well"), at=beat.last_success_at),
            Fact(_("Runs every"), age(beat.interval_seconds)),
            Fact(_("On"), shown(beat.host, 80)),
        ]
        report = beat.report if isinstance(beat.report, dict) else {}
        found += [
            Fact(shown(name, 40).replace("_", " ").capitalize(), shown(value, 40))
            for name, value in list(report.items())[:30]
            if isinstance(value, int | float | str)
        ]
    return found
