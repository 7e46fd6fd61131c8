"""Every pair of points: whoever recovers what a dead process left dies too.

In process, where a death is an exception that nobody survives. The daily run takes a part, drawn
in the same way each time; `-m slow` takes all.
"""

import itertools

import pytest

from tests.support.crashes.chain import in_process, play
from tests.support.crashes.draw import drawn, scenarios
from tests.support.crashes.world import CLASSES, World

pytestmark = pytest.mark.django_db(transaction=True)

PART, ALL = 2_000, 50_000


def test_pairs_of_points(world: World) -> None:
    """A part of all pairs."""
    assert drawn(world, in_process, 2, crashes=2, wanted=PART) == PART


@pytest.mark.slow
@pytest.mark.parametrize("effect", CLASSES)
def test_every_pair_of_points(world: World, effect: str) -> None:
    """All pairs of an effect's scenarios, and more drawn by chance until there are enough."""
    played, mine = 0, scenarios(effect)
    for scenario in mine:
        for first in itertools.count(1):
            if not play(world, scenario, in_process, [first]).deaths:
                break
            for second in itertools.count(first + 1):
                if play(world, scenario, in_process, [first, second]).deaths < 2:
                    break
                played += 1
    rest = max(ALL // len(CLASSES) - played, 0)
    print(f"\n{effect}: {played} pairs of crashes, {rest} drawn by chance")  # noqa: T201
    assert drawn(world, in_process, 3, crashes=2, wanted=rest, among=mine) == rest
