"""Everything, in any order, with lost answers and time passing: what must always hold, holds.

A machine draws what events, workers, the sweeper, people, ticks and the clock do, and looks at all
rows after each call; a failure is shrunk to the shortest story that shows it. The seed is printed
and LANDED_SEED=n repeats it; a story that failed is kept in the program's own directory and told
first the next time.
"""

import os
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import run_state_machine_as_test

from ledger.local import state_dir
from tests.support.database import Connect
from tests.support.machine.base import Base
from tests.support.machine.people import People
from tests.support.machine.work import Work
from tests.support.machine.world import World

STORY, STORIES = 50, 20
"""Rules of one story, and stories between two looks at how many steps there were."""

REACHED = frozenset(
    {
        "approve_decision won",
        "archive_keys won",
        "claim_job already_applied",
        "claim_job dead_lettered",
        "claim_job held_by_other",
        "claim_job in_review",
        "claim_job lost_claim",
        "claim_job payload_mismatch",
        "claim_job replay",
        "claim_job superseded",
        "claim_job won",
        "claim_next_job won",
        "claim_next_jobs won",
        "complete_job held_by_other",
        "complete_job in_review",
        "complete_job replay",
        "complete_job result_mismatch",
        "complete_job won",
        "confirm_landed won",
        "decide_conflict already_decided",
        "decide_conflict needs_second_person",
        "decide_conflict stale_version",
        "decide_conflict won",
        "decide_failed_job won",
        "decide_job held_by_other",
        "decide_job rule_failed",
        "decide_job won",
        "decide_queued_job won",
        "enqueue_job inserted",
        "enqueue_job matched",
        "fail_job held_by_other",
        "fail_job won",
        "heartbeat_job won",
        "mark_sending already_marked",
        "mark_sending in_review",
        "mark_sending lease_expired",
        "mark_sending missing_key",
        "mark_sending won",
        "post_failed_job inserted",
        "promote_conflicts won",
        "purge_jobs won",
        "record_receipt held_by_other",
        "record_receipt won",
        "reject_decision won",
        "release_job won",
        "retry_failed_job in_review",
        "retry_failed_job won",
        "take_expired_jobs won",
        "withdraw_decision won",
        "write_fields bad_transition",
        "write_fields in_review",
        "write_fields lost_record",
        "write_fields not_owner_of_field",
        "write_fields payload_mismatch",
        "write_fields replay",
        "write_fields rule_failed",
        "write_fields stale_version",
        "write_fields won",
    }
)
"""What a long run must have come by; a machine that never gets there proves nothing."""


class LedgerMachine(Work, People):
    """All rules together."""


def run(
    connect: Connect,
    steps: int,
    capsys: pytest.CaptureFixture[str],
    wanted: frozenset[str] = frozenset(),
) -> set[str]:
    """Tell stories until this many steps were looked at; return the wanted answers not come by.

    Rare answers get as many steps again: which stories are drawn is chance, and meant to be.
    """
    number = int(os.environ.get("LANDED_SEED") or random.SystemRandom().randrange(2**32))
    told = f"\nledger machine: {steps} steps, LANDED_SEED={number}"  # to repeat it
    print(told)  # noqa: T201 - what pytest shows of a failure, also where a worker of xdist ran it
    with capsys.disabled():
        print(told)  # noqa: T201 - at once, and where nothing fails
    set_hypothesis_home_dir(state_dir() / "hypothesis")
    Base.steps, Base.answers = 0, Counter()
    LedgerMachine.world = World(connect)
    chosen = settings(
        max_examples=STORIES,
        stateful_step_count=STORY,
        deadline=None,
        database=DirectoryBasedExampleDatabase(state_dir() / "hypothesis" / "examples"),
        phases=[Phase.reuse, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    missing = set(wanted)
    while Base.steps < steps or (missing and Base.steps < 2 * steps):
        run_state_machine_as_test(seed(number)(LedgerMachine), settings=chosen)
        number += 1
        missing -= {f"{operation} {outcome}" for operation, outcome in Base.answers}
    return missing


def test_three_thousand_steps(
    transactional_db: None, connect: Connect, capsys: pytest.CaptureFixture[str]
) -> None:
    """The daily run."""
    run(connect, 3_000, capsys)


@pytest.mark.slow
def test_fifty_thousand_steps(
    transactional_db: None, connect: Connect, capsys: pytest.CaptureFixture[str]
) -> None:
    """The long run, and proof that it comes by everything it should."""
    missing = run(connect, 50_000, capsys, REACHED)
    assert not missing, sorted(missing)
