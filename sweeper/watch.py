"""The watcher: reads when each tick last ended well, and tells somebody when that is too long ago.

It runs where nothing else of the program runs, from cron on another host, and believes nobody's
own word of being well: it reads proof of life, or notices that there is no database to read it
from. One incident is one message, however often the watcher is called. Who is told is in
``subscribers``; what writes the proof is in ``ticks``.
"""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import F
from django.db.models.functions import Now

from ledger.local import write_private
from ledger.models import Liveness
from sweeper.deaths import Death, read
from sweeper.schedules import ENTRIES
from sweeper.subscribers import Message, NotDeliveredError

READ_SECONDS = 15.0
"""A database that takes longer to say when the ticks ran is as good as away."""
USUAL_BOUND = 135.0
"""2 x interval + jitter of a sweep as shipped, while no row has said otherwise."""

Tell = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class Beat:
    """The proof of life of one tick."""

    name: str
    age: float
    interval: int
    jitter: int
    deaths: tuple[Death, ...] = ()

    @property
    def bound(self) -> float:
        """Return the age from which this tick counts as stopped."""
        return 2 * self.interval + self.jitter


class UnreadableError(Exception):
    """The proof of life could not be read; the message says why."""


@dataclass
class Memory:
    """What the last call knew; kept in a file, so that an incident is told once."""

    bound: float = USUAL_BOUND
    opened_at: float | None = None
    last_bad_at: float = 0.0
    told_at: float | None = None
    deaths_until: str | None = None
    problems: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> "Memory":
        """Read the file; without a good one there was no incident."""
        try:
            kept = json.loads(path.read_text())
            return cls(**{each.name: kept[each.name] for each in fields(cls)})
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Write the file."""
        write_private(path, json.dumps(asdict(self)))

    def learn(self, beats: Sequence[Beat]) -> list[Death]:
        """Take what the rows say; return the deaths not heard of before, none at the first call."""
        self.bound = min((beat.bound for beat in beats), default=self.bound)
        deaths = sorted({death for beat in beats for death in beat.deaths})
        known = self.deaths_until
        if deaths or known is None:
            self.deaths_until = max(known or "", *(d.at for d in deaths), "")
        return [death for death in deaths if known is not None and death.at > known]

    def note(self, now: float, problems: list[str], *, remind_after: float) -> bool:
        """Keep the course of an incident; return whether somebody must be told now.

        It is over when nothing was wrong for as long as a tick may be late: what follows from one
        fault comes in pieces, and a person needs one message about it.
        """
        if self.opened_at is not None and now - self.last_bad_at > self.bound:
            self.opened_at = self.told_at = None
        if not problems:
            return self.opened_at is not None and self.told_at is None
        self.opened_at = self.opened_at or now
        self.last_bad_at = now
        self.problems = problems
        return self.told_at is None or now - self.told_at >= remind_after


def look() -> list[Beat]:
    """Read the proof of life, or say why it cannot be read; a database that hangs counts too."""
    answers: queue.SimpleQueue[list[Beat] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(_read())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is why nothing was read
            answers.put(error)
        finally:
            connection.close()

    threading.Thread(target=ask, name="watch", daemon=True).start()
    try:
        answer = answers.get(timeout=READ_SECONDS)
    except queue.Empty as error:
        raise UnreadableError(f"PostgreSQL did not answer within {READ_SECONDS:.0f} s") from error
    if isinstance(answer, DatabaseError | InterfaceError):
        raise UnreadableError(f"PostgreSQL did not answer: {answer}".strip()) from answer
    if isinstance(answer, Exception):
        raise answer
    return answer


def _read() -> list[Beat]:
    rows = Liveness.objects.annotate(age=Now() - F("last_success_at")).order_by("name")
    return [
        Beat(
            name=row.name,
            age=row.age.total_seconds(),
            interval=row.interval_seconds,
            jitter=row.jitter_seconds,
            deaths=tuple(read((row.report or {}).get("deaths"))),
        )
        for row in rows
    ]


def judge(beats: Sequence[Beat], expected: Iterable[str]) -> list[str]:
    """Say in a sentence each what is too late, and what has never run."""
    known = {beat.name for beat in beats}
    never = [name for name in expected if name not in known]
    late = [
        f"{beat.name} last ended well {beat.age:.0f} s ago, at most {beat.bound:.0f} s are usual"
        for beat in beats
        if beat.age > beat.bound
    ]
    return late + ([f"never ran: {', '.join(never)}"] if never else [])


def watch(state: Path, tell: Sequence[Tell], *, remind_after: float) -> list[str]:
    """Look once, tell what has to be told, and return what is wrong now.

    What could not be told stays untold: the next call tries again.
    """
    memory = Memory.load(state)
    try:
        beats = look()
        problems = judge(beats, [entry.tick for entry in ENTRIES])
        problems += [death.text for death in memory.learn(beats)]
    except UnreadableError as error:
        problems = [str(error)]
    now = time.time()
    due = memory.note(now, problems, remind_after=remind_after)
    memory.save(state)
    if due:
        message = _message(memory.opened_at or now, memory.problems)
        try:
            for target in tell:
                target(message)
        except NotDeliveredError as error:
            return [*problems, f"nobody could be told: {error}"]
        memory.told_at = now
        memory.save(state)
    return problems


def _message(opened_at: float, problems: Sequence[str]) -> Message:
    since = datetime.fromtimestamp(opened_at, UTC)
    more = f", and {len(problems) - 1} more" if problems[1:] else ""
    return Message(
        topic="watch.alert",
        key=since.isoformat(),
        subject="watch",
        workflow=None,
        created_at=since,
        payload={"problems": list(problems)},
        headline=f"{problems[0]}{more}",
    )
