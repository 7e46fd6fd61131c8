"""Several calls at the same moment, once or many times over."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connections

from tests.support.doors import DOORS

PATIENCE = 30
"""A barrier nobody completes means a broken test; it must not hang."""
WAYS = [*DOORS, *(f"{door}-pooled" for door in DOORS)]
"""Where a race runs: through each door, directly and through a pooler."""


def through(*ways: str) -> pytest.MarkDecorator:
    """Run a race on these ways alone, for what not every door offers or what cannot differ."""
    return pytest.mark.parametrize("racing_door", ways, indirect=True)


through_sql = through("sql", "sql-pooled")
inner_doors = through("sql", "python", "sql-pooled", "python-pooled")
"""For what HTTP does not offer."""

_WAITS_FOR_ME = (
    "SELECT EXISTS (SELECT FROM pg_locks"
    " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


def someone_waits(holder: psycopg.Connection, call: "Future[Any]") -> bool:
    """Say whether a call came to wait for this session; False when it ended without."""
    end = time.monotonic() + PATIENCE
    while not call.done():
        row = holder.execute(_WAITS_FOR_ME).fetchone()
        if row and row[0]:
            return True
        assert time.monotonic() < end, "it neither ends nor waits"
        time.sleep(0.005)
    return False


def race[Result](*calls: Callable[[], Result]) -> list[Result]:
    """Run every call in a thread of its own, all released at once; return the answers in order.

    An exception of a call is raised here. Each thread gives Django's connection back.
    """
    (answers,) = race_rounds(1, *[lambda _round, call=call: call() for call in calls])
    return answers


def race_rounds[Result](
    rounds: int, *racers: Callable[[int], Result], between: Callable[[int], object] | None = None
) -> list[list[Result]]:
    """Race the same racers many times; return the answers of each round, in their order.

    A racer keeps its thread and with it its connections. It is called with the number of the
    round; ``between`` is called with it before each round, alone.
    """
    action = _counted(between) if between else None
    barrier = threading.Barrier(len(racers), action, timeout=PATIENCE)

    def run(racer: Callable[[int], Result]) -> list[Result]:
        answers = []
        try:
            for number in range(rounds):
                barrier.wait()
                answers.append(racer(number))
        except BaseException:
            barrier.abort()
            raise
        finally:
            connections.close_all()
        return answers

    with ThreadPoolExecutor(len(racers)) as pool:
        columns = _results([pool.submit(run, racer) for racer in racers])
    return [list(answers) for answers in zip(*columns, strict=True)]


def _counted(between: Callable[[int], object]) -> Callable[[], None]:
    """Return an action for the barrier that knows the number of the round."""
    numbers = iter(range(1_000_000_000))

    def act() -> None:
        between(next(numbers))

    return act


def _results[Result](futures: list[Future[Result]]) -> list[Result]:
    """Return what each thread returned, or raise what broke the race rather than who waited."""
    errors = [error for future in futures if (error := future.exception())]
    for error in errors:
        if not isinstance(error, threading.BrokenBarrierError):
            raise error
    return [future.result() for future in futures]
