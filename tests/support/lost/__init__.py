"""Every writing operation, ready to lose its answer: see tests/statement/test_ambiguous_commit.py.

Lives here, by noun: how to bring an operation to the point where it writes, and what its repeat
must answer.
"""

from tests.support.lost import (
    access,
    batches,
    jobs,
    monitors,
    people,
    records,
    registrations,
    sweeps,
    ticks,
)
from tests.support.lost.cases import CASES, Case, World

__all__ = [
    "CASES",
    "Case",
    "World",
    "access",
    "batches",
    "jobs",
    "monitors",
    "people",
    "records",
    "registrations",
    "sweeps",
    "ticks",
]
