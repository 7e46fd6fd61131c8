"""Let every mutant be killed by its named test, and print who killed whom.

    .venv/bin/python -m tests.mutants.run [FUNCTION ...]

The table also goes to LANDED_DIR/mutants.txt. The exit status is not 0 when a mutant lives.
"""

import sys

import pytest

from ledger.local import state_dir
from tests.mutants.catalogue import load
from tests.mutants.plugin import Schedule


def main(functions: list[str]) -> int:
    """Run, report, and return the exit status."""
    mutants = load(functions)
    schedule = Schedule(mutants)
    tests = {mutant.killer.partition("[")[0]: None for mutant in mutants if not mutant.problem()}
    plainly = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist"]
    status = pytest.main([*plainly, *tests], [schedule])
    killed = sum(verdict.alive is None for verdict in schedule.verdicts)
    width = max((len(mutant.name) for mutant in mutants), default=0)
    lines = sorted(
        f"{verdict.mutant.name:{width}}  {'ALIVE    ' if verdict.alive else 'killed by'}"
        f"  {verdict.mutant.killer} {verdict.alive or ''}".rstrip()
        for verdict in schedule.verdicts
    )
    table = "\n".join([*lines, f"{killed} of {len(mutants)} mutants killed", ""])
    (state_dir() / "mutants.txt").write_text(table)
    sys.stdout.write(table)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
