"""Every point at which a worker, sweeper, outbox, dead letters or a reconciler can die.

Each is a real process that a real SIGKILL ends. The daily run takes a part, drawn in the same way
each time; `-m slow` takes all.
"""

import itertools
import os
from pathlib import Path

import pytest

from tests.support.crashes.chain import in_process, play, run_past_its_deadline
from tests.support.crashes.draw import drawn, scenarios
from tests.support.crashes.forked import Forked
from tests.support.crashes.world import World

pytestmark = pytest.mark.django_db(transaction=True)

POINTS = Path(__file__).with_name("points.txt")
PART, ALL = 300, 5_000


def test_the_points_are_those_that_are_known(world: World) -> None:
    """The list is written by what runs; a point that is gone was a step nobody tries any more."""
    passed: set[tuple[str, str]] = set()
    for scenario in scenarios():
        passed.update(play(world, scenario, in_process, []).points)
    found = {f"{turn} {point}" for turn, point in passed}
    if os.environ.get("WRITE_POINTS"):
        POINTS.write_text("\n".join(sorted(found)) + "\n")
    known = set(POINTS.read_text().splitlines())
    gone, new = sorted(known - found), sorted(found - known)
    assert (gone, new) == ([], []), "gone, and new: WRITE_POINTS=1 writes the list"


def test_points_die_by_sigkill(outside: World, killer: Forked) -> None:
    """A part of all single points."""
    played = drawn(outside, killer, 1, crashes=1, wanted=PART)
    assert (played, len(killer.killed)) == (PART, PART)


def test_every_point_of_a_reconciler_dies_by_sigkill(outside: World, killer: Forked) -> None:
    """From the look at a run past its deadline, by its stop, to its end."""
    for n in itertools.count(1):
        if not play(outside, run_past_its_deadline("cancel"), killer, [n]).deaths:
            break
    assert len(killer.killed) == n - 1 > 60


@pytest.mark.slow
def test_every_point_dies_by_sigkill(outside: World, killer: Forked) -> None:
    """All single points of all scenarios, and more drawn by chance until there are enough."""
    for scenario in scenarios():
        for n in itertools.count(1):
            if not play(outside, scenario, killer, [n]).deaths:
                break
    every = len(killer.killed)
    drawn(outside, killer, 4, crashes=1, wanted=max(ALL - every, 0))
    print(f"\n{every} single crashes, and {len(killer.killed) - every} drawn by chance")  # noqa: T201
    assert len(killer.killed) >= ALL
