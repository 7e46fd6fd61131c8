"""Which chains are played: all of them, or a part drawn by chance, the same at every run."""

import itertools
import random
from collections.abc import Sequence

from sweeper.killmatrix.relay import Mode
from tests.support.crashes import chain
from tests.support.crashes.chain import Runner, Scenario, play
from tests.support.crashes.world import CLASSES, HOOK, World

STAGES = ("claim_next_job.after", "mark_sending.after", "http.answered", "record_receipt.after")
FARTHEST = 20
"""Points of a turn, as far as a chance is drawn: few turns have more."""


def scenarios(*effects: str) -> list[Scenario]:
    """Return each class in each mode, from each stage at which a worker may leave it."""
    found = [chain.message(mode) for mode in Mode if HOOK in (effects or CLASSES)]
    found += runs() if HOOK in (effects or CLASSES) else []
    for effect, mode in itertools.product(effects or CLASSES, Mode):
        found += [chain.send(effect, mode), chain.letter(effect, mode)]
        found += [chain.left_behind(effect, mode, at) for at in STAGES]
    return found


def runs() -> list[Scenario]:
    """Return the runs a reconciler settles, whose job is another matter."""
    ended = [chain.run_that_ended(status) for status in ("success", "crashed")]
    late = [chain.run_past_its_deadline(on_stop) for on_stop in ("cancel", "late")]
    return [*ended, *late, chain.run_that_completed()]


def drawn(
    world: World,
    run: Runner,
    seed: int,
    *,
    crashes: int,
    wanted: int,
    among: Sequence[Scenario] = (),
) -> int:
    """Play chains with crashes at points drawn by chance; count those in which all happened."""
    chance, every, played = random.Random(seed), among or scenarios(), 0
    while played < wanted:
        points = list(itertools.accumulate(chance.randint(1, FARTHEST) for _ in range(crashes)))
        played += play(world, chance.choice(every), run, points).deaths == crashes
    return played
