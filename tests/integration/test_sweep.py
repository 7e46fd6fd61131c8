"""The kill matrix in process: whatever a worker died of, the effects and the end of the job."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.lab import Claim, Lab
from tests.support.sweeps import swept


def after_effect_before_done(lab: Lab, claim: Claim) -> None:
    """Hear the answer and die."""
    lab.mark(claim)
    assert lab.send(claim) == 201


def forward_then_drop(lab: Lab, claim: Claim) -> None:
    """Send, and hear nothing although the provider took it."""
    lab.mark(claim)
    assert lab.send(claim, "forward-then-drop") is None


def before_effect_marked(lab: Lab, claim: Claim) -> None:
    """Mark, and send what never arrives."""
    lab.mark(claim)
    assert lab.send(claim, "fail-before-forward") is None


def before_effect_unmarked(lab: Lab, claim: Claim) -> None:
    """Die right after the claim."""


MATRIX = [
    (after_effect_before_done, "charge", 1, "done"),
    (after_effect_before_done, "mail", 1, "done"),
    (after_effect_before_done, "hook", 1, "review"),
    (forward_then_drop, "charge", 1, "done"),
    (forward_then_drop, "mail", 1, "done"),
    (forward_then_drop, "hook", 1, "review"),
    (before_effect_marked, "charge", 1, "done"),
    (before_effect_marked, "mail", 0, "review"),
    (before_effect_marked, "hook", 0, "review"),
    (before_effect_unmarked, "charge", 1, "done"),
    (before_effect_unmarked, "mail", 0, "review"),
    (before_effect_unmarked, "hook", 0, "review"),
]


@pytest.mark.parametrize(("crash", "effect", "effects", "state"), MATRIX)
def test_the_kill_matrix(lab: Lab, crash: Any, effect: str, effects: int, state: str) -> None:
    """Whatever a worker died of, the count and the end are those the class allows."""
    lab.set_provider(effect, settle_seconds=0)
    claim = lab.claim(effect)
    crash(lab, claim)
    for _ in range(3):
        lab.expire(claim)
        swept()
        lab.work_off()
    assert (lab.effects(claim), lab.job(claim).state) == (effects, state)


@pytest.mark.parametrize("crash", [row[0] for row in MATRIX if row[1] == "charge"])
def test_a_forced_unique_provider_needs_no_look_up(lab: Lab, crash: Any) -> None:
    """Sending again under the same key is safe by construction, and ends done."""
    lab.set_provider("charge", lookup_config=Jsonb({}))
    claim = lab.claim("charge")
    crash(lab, claim)
    lab.expire(claim)
    assert swept().requeued == 1
    assert lab.work_off() == 1
    assert (lab.effects(claim), lab.job(claim).state) == (1, "done")


def test_a_finished_job_is_never_touched(lab: Lab) -> None:
    """The happy path leaves the sweeper nothing to do."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.send(claim)
    lab.complete(claim)
    version = lab.job(claim).version
    assert swept().taken == 0
    assert lab.job(claim).version == version


def test_a_live_lease_is_never_touched(lab: Lab) -> None:
    """Slow is not dead."""
    claim = lab.claim("hook")
    lab.mark(claim)
    assert swept().taken == 0
    assert lab.job(claim).state == "claimed"
