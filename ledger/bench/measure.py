"""How things are measured: CPU of one backend, WAL, ratios by round, goals and targets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

WARM = 50
"""First calls of a session, in which it plans and fills its caches."""


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


def cost(session: psycopg.Connection, call: Callable[[Any], None], items: Sequence[Any]) -> Cost:
    """Call once per item on one session, and return what each call after the first few cost."""
    backend = Backend(session)
    warm = min(WARM, len(items) // 4)
    for item in items[:warm]:
        call(item)
    wal, cpu = backend.wal(), backend.cpu_us()
    for item in items[warm:]:
        call(item)
    used = backend.cpu_us() - cpu
    calls = len(items) - warm
    return Cost(used / calls, (backend.wal() - wal) / calls)


@dataclass
class Ratio:
    """One ratio, measured once per round."""

    rounds: list[float] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """Return the median."""
        return median(self.rounds)

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({min(self.rounds):.2f}..{max(self.rounds):.2f})"


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
