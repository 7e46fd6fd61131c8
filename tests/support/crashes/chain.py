"""Chains of turns: worker, sweeper, outbox, dead letters, reconciler until nothing is undecided.

A chain counts every crash point it passes. It is told after how many a process dies; whoever comes
next finds what the dead one left, after its leases have run out.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ledger import crash
from ledger.models import FailedJob
from ledger.operations.base import Caller
from ledger.operations.runs import complete_run
from sweeper import dead_letters, outbox, reconcile
from sweeper.killmatrix.relay import Mode
from sweeper.sweep import run_once
from sweeper.work import work_once
from tests.support.crashes.world import HOOK, World

TURNS: dict[str, Callable[[], object]] = {
    "work": work_once,
    "sweep": run_once,
    "outbox": outbox.run_once,
    "letters": dead_letters.run_once,
    "reconcile": reconcile.run_once,
}
MOST_ROUNDS = 10


class Crash(BaseException):
    """The process is dead; nothing catches it, and nothing more is done by it."""


@dataclass
class Turned:
    """One turn: the points it passed, and whether it died at the last of them."""

    points: list[str]
    died: bool


class Runner(Protocol):
    """Something that runs a turn, to die at its nth point where one is given."""

    def __call__(self, turn: str, die_at: int | None) -> Turned:
        """Run it."""


class Dying:
    """A hook that counts points; from the deadly one on every point raises.

    Only its own thread's: what else lives in this process (a heartbeat, a server of an earlier
    test) passes points at moments of its own.
    """

    def __init__(self, die_at: int | None) -> None:
        """Begin at the first point."""
        self.points: list[str] = []
        self.dead = False
        self._die_at = die_at
        self._thread = threading.get_ident()

    def __call__(self, name: str) -> None:
        """Pass a point, or die there."""
        if threading.get_ident() != self._thread:
            return
        if self.dead:
            raise Crash
        self.points.append(name)
        if len(self.points) == self._die_at:
            self.dead = True
            raise Crash


def in_process(turn: str, die_at: int | None) -> Turned:
    """Run a turn here; its death is an exception that nobody survives."""
    hook = Dying(die_at)
    crash.arm(hook)
    try:
        TURNS[turn]()
    except Crash:
        pass
    finally:
        crash.arm(None)
    return Turned(hook.points, hook.dead)


@dataclass
class Scenario:
    """What a chain begins with, whose turns it is made of, and how it has to end."""

    name: str
    turns: tuple[str, ...]
    begin: Callable[[World], str]
    is_over: Callable[[World, str], bool]
    judge: Callable[[World, str, int], None]


@dataclass
class Played:
    """A chain that was played to its end."""

    points: list[tuple[str, str]] = field(default_factory=list)
    deaths: int = 0


def play(
    world: World,
    scenario: Scenario,
    run: Runner,
    crashes: Sequence[int],
    alive: Runner = in_process,
) -> Played:
    """Play a chain; ``crashes`` are the points, counted over the whole chain, at which one dies."""
    job_id = scenario.begin(world)
    played = Played()
    for _ in range(MOST_ROUNDS):
        for turn in scenario.turns:
            doomed = played.deaths < len(crashes)
            die_at = crashes[played.deaths] - len(played.points) if doomed else None
            turned = run(turn, die_at) if doomed else alive(turn, None)
            played.points += [(turn, point) for point in turned.points]
            played.deaths += turned.died
            if scenario.is_over(world, job_id):
                scenario.judge(world, job_id, played.deaths)
                return played
            world.later(job_id)
    state = world.state(job_id)
    raise AssertionError(f"{scenario.name}, {crashes}: {state} after {MOST_ROUNDS} rounds")


# -- the scenarios -----------------------------------------------------------------------------


def send(effect: str, mode: Mode) -> Scenario:
    """Queue an effect whose first send meets this mode."""
    return Scenario(
        f"send {effect} {mode}",
        ("work", "sweep"),
        lambda world: world.queue(effect, mode),
        World.is_settled,
        lambda world, job_id, _: world.judge(job_id),
    )


def left_behind(effect: str, mode: Mode, at: str) -> Scenario:
    """Do the same, and let the worker die at a point: now it is the sweeper's."""

    def begin(world: World) -> str:
        job_id = world.queue(effect, mode)
        hook = DyingAt(at)
        crash.arm(hook)
        try:
            TURNS["work"]()
        except Crash:
            pass
        finally:
            crash.arm(None)
        world.later(job_id)
        return job_id

    usual = send(effect, mode)
    name = f"sweep {effect} {mode} after {at}"
    return Scenario(name, ("sweep", "work"), begin, usual.is_over, usual.judge)


class DyingAt(Dying):
    """A hook that dies at a named point."""

    def __init__(self, name: str) -> None:
        """Take the name."""
        super().__init__(None)
        self._name = name

    def __call__(self, name: str) -> None:
        """Pass a point, or die there."""
        own = threading.get_ident() == self._thread
        self.dead = self.dead or (own and name == self._name)
        super().__call__(name)


def letter(effect: str, mode: Mode) -> Scenario:
    """Make a dead letter that is due: its job was refused for the last time."""

    def begin(world: World) -> str:
        job_id = world.queue(effect, Mode.FORWARD_AND_RESPOND)
        world.attempts(effect, 1)
        world.wire.refuse_next()
        in_process("work", None)
        world.attempts(effect, 50)
        assert FailedJob.objects.filter(job_id=job_id, state="open").exists()
        world.wire.mode_for(world.job(job_id).provider_key or "", mode)
        world.later(job_id)
        return job_id

    def judge(world: World, job_id: str, _: int) -> None:
        world.judge(job_id, refused=1)

    name = f"letter {effect} {mode}"
    return Scenario(name, ("letters", "work", "sweep"), begin, World.is_settled, judge)


def message(mode: Mode) -> Scenario:
    """Put a message into the outbox, about an effect nobody is sure of."""

    def begin(world: World) -> str:
        world.forget_messages()
        job_id = world.queue(HOOK, Mode.FORWARD_THEN_DROP)
        in_process("work", None)
        world.later(job_id)
        in_process("sweep", None)
        for key in world.message_keys():
            world.wire.mode_for(key, mode)
        return job_id

    def judge(world: World, _: str, deaths: int) -> None:
        for key in world.message_keys(published=True):
            told = world.wire.effects("hook", key)
            assert 1 <= told <= 1 + deaths + 1, (key, told, deaths)

    return Scenario(
        f"message {mode}", ("outbox",), begin, lambda world, _: not world.message_keys(), judge
    )


def run_that_ended(status: str) -> Scenario:
    """Begin a run that n8n has ended without its own word."""

    def judge(world: World, run_id: str, _: int) -> None:
        run = world.run(run_id)
        assert (run.status, run.engine_status) == ("failed_transient", status)
        assert world.stops(run_id) == 0

    return _run(f"run {status}", lambda world: world.begin_run(status), judge)


def run_past_its_deadline(on_stop: str) -> Scenario:
    """Begin a run that goes on: it is asked to stop, once or again after a death, and seen to."""

    def judge(world: World, run_id: str, deaths: int) -> None:
        run = world.run(run_id)
        assert (run.status, run.engine_status) == ("failed_transient", "canceled")
        assert 1 <= world.stops(run_id) <= 2 + deaths, (world.stops(run_id), deaths)

    name = f"run past its deadline, {on_stop}"
    return _run(name, lambda world: world.begin_run("running", on_stop=on_stop), judge)


def run_that_completed() -> Scenario:
    """Complete a run by its own word, which n8n confirms as something else."""

    def begin(world: World) -> str:
        run_id = world.begin_run("crashed")
        done = complete_run(Caller("shop"), run_id=world.run(run_id).id, result={"ok": 1})
        assert done.outcome == "won", done
        return run_id

    def judge(world: World, run_id: str, _: int) -> None:
        run = world.run(run_id)
        assert (run.status, run.engine_status) == ("completed", "crashed")

    return _run("run that completed", begin, judge)


def _run(
    name: str, begin: Callable[[World], str], judge: Callable[[World, str, int], None]
) -> Scenario:
    """Reconcile until the run is over and the engine has said so."""

    def is_over(world: World, run_id: str) -> bool:
        run = world.run(run_id)
        return run.status != "running" and run.engine_confirmed_at is not None

    return Scenario(name, ("reconcile",), begin, is_over, judge)
