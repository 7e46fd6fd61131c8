"""The ticks: everything periodic, who runs it now, when it last ended well, and what it did."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ledger.models import Liveness, SweepLock
from review.items.page import Fact
from review.items.parts import Chip
from review.text import age, shown
from sweeper.schedules import ENTRIES

# What a tick does, in the words of its button and its list.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "sweep": ("The sweep", "Takes jobs whose lease is over, asks their providers, and decides."),
    "reconciler": ("The reconciler", "Asks the engine about running runs, and ends what it may."),
    "drift": ("The watch for drift", "Asks n8n whether it runs what was deployed."),
    "promote_conflicts": ("The queue's refresh", "Puts what waits too long into the queue."),
    "seal_audit": ("The audit's seal", "Seals the audit rows written since the last seal."),
    "dlq_retry": ("The retry of dead letters", "Tries dead letters again that are due."),
    "relay_outbox": ("The outbox", "Delivers the messages that are due."),
    "archive_keys": ("The archive of keys", "Moves keys past their life into the archive."),
    "purge_jobs": ("The purge of jobs", "Drops finished jobs whose key went long ago."),
    "purge_archive": ("The purge of the archive", "Forgets archived keys where that is signed."),
    "bulk": ("The bulk run", "Carries out the sets of items that people decide together."),
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
        """Call it by what people know it by."""
        what = shown(self.pk.removeprefix("check:"), 80)
        other = f"The check of the {what}" if self.pk.startswith("check:") else what
        return _WORDS.get(self.pk, (other, ""))[0]

    @property
    def does(self) -> str:
        """Say what it does."""
        return _WORDS.get(self.pk, ("", ""))[1]

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
            return Chip("running now", "warn", "▶")
        if self.beat is None:
            return Chip("never ran", "bad", "!")
        return Chip("late", "bad", "!") if self.late(now) else Chip("on time", "ok", "✓")

    def story(self, now: datetime) -> str:
        """Say what it does and how it stands."""
        if self.beat is None:
            return f"{self.does} It has never ended well here: start the worker."
        since = age((now - self.beat.last_success_at).total_seconds())
        late = " That is too long: see whether the worker runs." if self.late(now) else ""
        return f"{self.does} It last ended well {since} ago.{late}"

    def did(self) -> str:
        """Say what the last pass counted."""
        report = self.beat.report if self.beat else None
        if not isinstance(report, dict):
            return "no report yet"
        counts = [f"{name.replace('_', ' ')} {value}" for name, value in _counts(report)]
        return ", ".join(counts) or "there was nothing to do"

    def why_not(self, now: datetime) -> str:
        """Say why it cannot be run here."""
        if self.pk not in RUNNABLE:
            return "It is run by its own program only."
        if self.runs(now) and self.lock:
            return f"{shown(self.lock.holder, 80)} runs it now."
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
            Fact("Holder", shown(lock.holder, 120), mono=True),
            Fact("Fence", str(lock.fence), "grows with every holder"),
            Fact("Taken", at=lock.acquired_at),
            Fact("Lease ends", at=lock.lease_expires_at),
            Fact("Ended", at=lock.last_finished_at),
        ]
    if beat:
        found += [
            Fact("Ended well", at=beat.last_success_at),
            Fact("Runs every", age(beat.interval_seconds)),
            Fact("On", shown(beat.host, 80)),
        ]
        report = beat.report if isinstance(beat.report, dict) else {}
        found += [
            Fact(shown(name, 40).replace("_", " ").capitalize(), shown(value, 40))
            for name, value in list(report.items())[:30]
            if isinstance(value, int | float | str)
        ]
    return found
