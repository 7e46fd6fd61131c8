"""The kill matrix as a table: who is killed where, and what has to be true after every sweep.

Pure. How processes are started and killed is in ``matrix``; what is printed is in ``report``.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sweeper.classes import ProviderClass
from sweeper.killmatrix.relay import Mode

FORCED = ProviderClass.FORCED_UNIQUE
HANDLE = ProviderClass.ADVISORY_HANDLE
BLIND = ProviderClass.ADVISORY_BLIND

FEWEST = 15
"""Five kill points for three classes; a matrix with fewer cells proves nothing."""

KILLED = -9
NATIVE, WORKFLOW = "worker", "workflow"

Expected = Mapping[ProviderClass, tuple[int, str]]
SENT: Expected = {FORCED: (1, "done"), HANDLE: (1, "done"), BLIND: (1, "review")}
NOT_SENT: Expected = {FORCED: (1, "done"), HANDLE: (0, "review"), BLIND: (0, "review")}
TWICE: Expected = {FORCED: (1, "done"), HANDLE: (2, "done"), BLIND: (2, "review")}
KNOWN: Expected = {FORCED: (1, "done"), HANDLE: (1, "done"), BLIND: (1, "done")}


@dataclass(frozen=True, slots=True)
class Point:
    """One row of the matrix: where the worker dies, and the sweeper after it.

    ``worker`` says who it is: the native worker, or one that works for a workflow. What a workflow
    does between claim and mark nobody can see, what the native worker does is known. With
    ``again`` somebody sends the same once more under the same key, without asking the ledger.
    """

    number: str
    title: str
    dies_at: str
    expected: Expected
    worker: str = NATIVE
    sweeper: str | None = None
    again: bool = False
    mode: Mode = Mode.FORWARD_AND_RESPOND


POINTS = (
    Point("1", "after the effect, before done", "http.answered", SENT),
    Point("2", "mid-sweep, swept again", "http.answered", SENT, sweeper="take_expired_jobs.after"),
    Point("3", "before the effect, not marked", "mark_sending.before", NOT_SENT, worker=WORKFLOW),
    Point("3'", "before the effect, marked", "mark_sending.after", NOT_SENT),
    Point("4", "forward then drop the answer", "http.failed", SENT, mode=Mode.FORWARD_THEN_DROP),
    Point("5", "the request is on its way", "http.sent#2", SENT),
    Point("6", "receipt stored, before done", "record_receipt.after", KNOWN),
    Point("7", "native worker, not marked", "mark_sending.before", KNOWN),
    Point("8", "same key twice, past the ledger", "http.answered", TWICE, again=True),
)


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that was to die at a point, and how it ended."""

    process: str
    point: str
    pid: int
    exit: int


@dataclass
class Cell:
    """One point for one class: what was done, and what was counted."""

    point: Point
    class_: ProviderClass
    kills: list[Kill] = field(default_factory=list)
    job_id: str = ""
    key: str = ""
    state: str = ""
    effects: int = 0
    relay_log: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the name of the cell's effect and of its provider."""
        return f"cell-{self.point.number.replace("'", 'm')}-{self.class_.value.replace('_', '-')}"

    @property
    def expected(self) -> tuple[int, str]:
        """Return how many effects and which state there have to be."""
        return self.point.expected[self.class_]

    def faults(self) -> list[str]:
        """Say what is wrong with this cell; nothing where it is as expected."""
        wanted = 2 if self.point.sweeper else 1
        found = [f"{wanted - len(self.kills)} process(es) never started"]
        faults = found if len(self.kills) < wanted else []
        faults += [
            f"the {kill.process} was not killed at {kill.point}: it ended with {kill.exit}"
            for kill in self.kills
            if kill.exit != KILLED
        ]
        if (self.effects, self.state) != self.expected:
            effects, state = self.expected
            faults.append(f"expected {effects} effects and {state}")
        return faults

    def as_json(self) -> dict[str, Any]:
        """Return the cell as the report keeps it."""
        effects, state = self.expected
        return {
            "cell": self.point.number,
            "title": self.point.title,
            "class": self.class_.value,
            "kills": [
                {"process": k.process, "point": k.point, "pid": k.pid, "signal": k.exit}
                for k in self.kills
            ],
            "mode": self.point.mode.value,
            "job": self.job_id,
            "relay_log": self.relay_log,
            "effects": self.effects,
            "state": self.state,
            "expected": {"effects": effects, "state": state},
            "faults": self.faults(),
        }


def cells(classes: Collection[ProviderClass] = tuple(ProviderClass)) -> list[Cell]:
    """Return the matrix for these classes, unfilled."""
    return [
        Cell(point, class_) for point in POINTS for class_ in ProviderClass if class_ in classes
    ]
