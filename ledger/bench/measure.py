"""How things are measured: CPU of one backend, WAL, ratios by round, goals and targets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psycopg

WARM = 50
"""First calls of a session, in which it plans and fills its caches."""
MANY = 8
"""With so many values the extremes say nothing."""
TURN = 10
"""Calls of one variant before the next one's turn."""


class NotLocalError(RuntimeError):
    """The server does not run on this machine, so its CPU cannot be read."""


@dataclass(frozen=True)
class Cost:
    """What one call cost the server, on average."""

    cpu_us: float
    wal_bytes: float


class Backend:
    """The server process behind one session, and the CPU it used."""

    def __init__(self, session: psycopg.Connection) -> None:
        """Find the process."""
        self.session = session
        self.stat = Path(f"/proc/{session.info.backend_pid}/schedstat")
        if not self.stat.exists():
            raise NotLocalError("bench reads /proc of the server; run it where PostgreSQL runs")

    def cpu_us(self) -> float:
        """Return the microseconds on a processor so far; the process waits, so they are final."""
        return int(self.stat.read_text().split()[0]) / 1000

    def wal(self) -> int:
        """Return where the server's log of writes stands."""
        row = self.session.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
        assert row  # noqa: S101  a SELECT without FROM has one row
        return int(row[0])


@dataclass(frozen=True)
class Run:
    """One variant under measurement: a session, what is called on it, and with what."""

    session: psycopg.Connection
    call: Callable[[Any], None]
    items: Sequence[Any]


def together(runs: Sequence[Run]) -> list[list[Cost]]:
    """Measure variants by turns, so that whatever else the machine does falls on all alike.

    Return, per variant, what a call cost in each turn; the first calls of a session do not count.
    """
    backends = [Backend(run.session) for run in runs]
    count = min(len(run.items) for run in runs)
    warm = min(WARM, count // 4)
    for run in runs:
        for item in run.items[:warm]:
            run.call(item)
    found: list[list[Cost]] = [[] for _ in runs]
    places = list(zip(runs, backends, found, strict=True))
    for number, start in enumerate(range(warm, count, TURN)):
        for run, backend, costs in places if number % 2 == 0 else places[::-1]:
            costs.append(_turn(backend, run.call, run.items[start : start + TURN]))
    return found


def _turn(backend: Backend, call: Callable[[Any], None], items: Sequence[Any]) -> Cost:
    """Call once per item and return what each call cost."""
    wal, cpu = backend.wal(), backend.cpu_us()
    for item in items:
        call(item)
    used = backend.cpu_us() - cpu
    return Cost(used / len(items), (backend.wal() - wal) / len(items))


def cost(session: psycopg.Connection, call: Callable[[Any], None], items: Sequence[Any]) -> float:
    """Return the middle CPU of a call, in microseconds, of what needs no comparison by turns."""
    return median(each.cpu_us for each in together([Run(session, call, items)])[0])


@dataclass
class Ratio:
    """One ratio, measured once per round or turn."""

    rounds: list[float] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """Return the median."""
        return median(self.rounds)

    def __str__(self) -> str:
        """Show the middle half of many turns, all of few rounds."""
        low, high = min(self.rounds), max(self.rounds)
        if len(self.rounds) >= MANY:
            low, _, high = quantiles(self.rounds, n=4)
        return f"{self.middle:.2f} ({low:.2f}..{high:.2f})"


@dataclass
class Goal:
    """One line of the answer: what was measured against what was aimed for."""

    name: str
    what: str
    value: float
    most: float | None = None
    least: float | None = None
    unit: str = "x"
    spread: str = ""
    reason: str = ""

    @property
    def reached(self) -> bool:
        """Say whether the value is where it should be."""
        return (self.most is None or self.value <= self.most) and (
            self.least is None or self.value >= self.least
        )

    def __str__(self) -> str:
        aim = f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"
        said = "reached" if self.reached else "MISSED "
        line = (
            f"{self.name:<4} {said}  {self.value:8.2f} {self.unit:<3} {aim:<8} {self.what}"
            f"{f'  {self.spread}' if self.spread else ''}"
        )
        return f"{line}\n       {self.reason}" if self.reason and not self.reached else line


def alternate[T](things: Sequence[T], rounds: int) -> Iterable[tuple[int, Sequence[T]]]:
    """Give the things forward in one round and backward in the next, so that drift cancels out."""
    for number in range(rounds):
        yield number, things if number % 2 == 0 else things[::-1]
