"""Every guard of a database function is watched by a named test, which fails where it is gone.

What shows without a database is seen here; the killing itself is tests/mutants/run.py, which is for
the full run.
"""

from ledger.catalog import OPERATIONS
from tests.mutants.catalogue import HERE, calls, load

LEAST = 40
MUTANTS = load()
EVERYBODYS = calls("admit")
"""Functions that every operation begins with."""
UNGUARDED = {"daily_report"}
"""Operations that only read, and stop nobody."""


def test_each_mutant_applies_and_names_a_test_that_exists() -> None:
    """A function that moved on takes its mutants with it; so does a test that was renamed."""
    assert {mutant.name: mutant.problem() for mutant in MUTANTS if mutant.problem()} == {}


def test_every_operation_has_mutants() -> None:
    """Guards of its own, in its body or in a function it calls."""
    assert len(MUTANTS) >= LEAST
    mutated = {path.stem for path in HERE.glob("*.toml")} - EVERYBODYS
    assert {name for name in OPERATIONS if not calls(name) & mutated} == UNGUARDED
