"""Every guard of a database function is watched by a named test, which fails where it is gone.

What shows without a database is seen here; the killing itself is tests/mutants/run.py, which is for
the full run.
"""

import pytest

from ledger.catalog import OPERATIONS
from tests.mutants.catalogue import calls, load

LEAST = 600
MUTANTS = load()
EVERYBODYS = calls("admit")
"""Functions that every operation begins with."""
READING = {
    "daily_report",
    "explain_job",
    "lookup_key",
    "read_conflict",
    "read_record",
    "verify_audit",
}
"""Operations that change no row and so owe the audit none."""
EXEMPT = {
    "own": {"daily_report"},  # it stops nobody
    "search_path": {  # nothing in their own text could be led astray
        "claim_jobs",
        "complete_jobs",
        "complete_run",
        "enqueue_jobs",
        "fail_run",
        "post_failed_jobs",
        "seal_audit",
    },
    "audit": READING | {"heartbeat_job", "seal_audit"},  # successes that leave no row
    "caller": {name for name, each in OPERATIONS.items() if not each.n8n},
}
"""The kinds of guards an operation has, and which operations do not have them."""


def test_each_mutant_applies_and_names_a_test_that_exists() -> None:
    """A function that moved on takes its mutants with it; so does a test that was renamed."""
    assert {mutant.name: mutant.problem() for mutant in MUTANTS if mutant.problem()} == {}


@pytest.mark.parametrize("kind", EXEMPT)
def test_every_operation_has_a_mutant_of_each_kind(kind: str) -> None:
    """Its own guards, in its body or in a function it calls, and those that all operations have."""
    if kind == "own":
        mutated = {mutant.function for mutant in MUTANTS if not mutant.operation} - EVERYBODYS
        found = {name for name in OPERATIONS if calls(name) & mutated}
    else:
        found = {mutant.operation for mutant in MUTANTS if mutant.slug.startswith(kind)}
    assert OPERATIONS.keys() - found == EXEMPT[kind]


def test_there_are_many() -> None:
    """A file that is not read any more would leave few."""
    assert len(MUTANTS) >= LEAST
