"""The reconcile decision table: what to do about a run of which the engine said something.

Nothing here reads a clock, a row or an engine. The database function ``judge_run`` holds the same
table and alone acts on it, under the lock of the run: what stands here says beforehand, and to
people, what the ledger would answer. A test compares the two, cell by cell.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

ENDED = frozenset({"success", "error", "crashed", "canceled"})
UNSEEN = frozenset({"unknown", "not_found"})
UNREACHABLE = "unreachable"
WAITING = "waiting"


class Action(StrEnum):
    """What becomes of the run: the actions that ``reconcile_run`` answers."""

    LEAVE = "leave"
    LEAVE_FLAGGED = "leave_flagged"
    LEAVE_GRACE = "leave_grace"
    REQUEST_STOP = "request_stop"
    TERMINATED = "terminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one running run.

    ``engine_status`` is the engine's word, or ``not_found`` and ``unreachable``; None without an
    execution to ask about. ``stopped`` says that the engine gave a stop time. ``grace_over``: its
    end was first seen longer ago than the workflow's own word may take. ``unseen_too_long``: it has
    been out of reach longer than anybody should wait. ``stop_asked``: a person asked for a stop.
    """

    has_execution: bool
    engine_status: str | None = None
    stopped: bool = False
    grace_over: bool = False
    unseen_too_long: bool = False
    stop_asked: bool = False
    past_deadline: bool = False
    muted: bool = False

    @property
    def ended(self) -> bool:
        """The engine says both that it stopped and how."""
        return self.stopped and self.engine_status in ENDED


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: when it applies and what follows."""

    when: Callable[[Facts], bool]
    action: Action


# Read from the top: the first row that applies decides.
TABLE: tuple[Rule, ...] = (
    Rule(lambda f: not f.has_execution, Action.LEAVE_FLAGGED),
    Rule(lambda f: f.ended and f.grace_over, Action.TERMINATED),
    Rule(lambda f: f.ended, Action.LEAVE_GRACE),
    Rule(lambda f: f.engine_status in UNSEEN, Action.LEAVE_FLAGGED),
    Rule(lambda f: f.engine_status == UNREACHABLE and f.unseen_too_long, Action.LEAVE_FLAGGED),
    Rule(lambda f: f.engine_status == UNREACHABLE, Action.LEAVE),
    Rule(lambda f: f.stop_asked, Action.REQUEST_STOP),
    Rule(lambda f: not f.past_deadline, Action.LEAVE),
    Rule(lambda f: f.engine_status == WAITING, Action.LEAVE_FLAGGED),
    Rule(lambda _: True, Action.REQUEST_STOP),
)


def decide(facts: Facts) -> Action:
    """Return the first row of the table that applies; a muted flag is not raised again."""
    action = next(rule.action for rule in TABLE if rule.when(facts))
    return Action.LEAVE if action is Action.LEAVE_FLAGGED and facts.muted else action
