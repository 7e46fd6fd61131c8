"""The mutants: one guard of one database function taken away, each with the test that must notice.

`<function>.toml` holds the mutants of `ledger/sql/functions/<function>.sql`. Each table is one:

    [token]
    guard = "only the holder's token ends a claim"
    old = "AND p_job.owner_token = p_token"
    new = ""
    killer = "tests/statement/test_complete_job.py::test_a_stranger_completes_nothing[sql]"

`old` stands in the function exactly once. Where the function's text moved on, the mutant does not
apply any more and everything here fails until somebody looks at it again.

`every_operation.toml` takes a guard that all operations have from one after the other: out of its
own text where `old` fits, or out of the function they share (`inside`) for this operation alone.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.catalog import OPERATIONS
from ledger.local import ROOT

HERE = Path(__file__).parent
FUNCTIONS = ROOT / "ledger" / "sql" / "functions"
EVERY = "every_operation"
BODY = "AS $$\n"
NEUTRAL = "AS $$\n-- The same function, said with one line more.\n"
BEHAVIOUR = ("tests/statement/", "tests/integration/")
"""Where tests are that call operations and look at what became of the rows."""


@dataclass(frozen=True)
class Mutant:
    """One guard taken out of one function."""

    function: str
    slug: str
    guard: str
    old: str
    new: str
    killer: str
    operation: str = ""
    """Whose guard it is, where all operations have it."""

    @property
    def name(self) -> str:
        """Return the function and the guard that is gone, and for whom."""
        whose = f" for {self.operation}" if self.operation not in {"", self.function} else ""
        return f"{self.function}--{self.slug}{whose}"

    def text(self) -> str:
        """Return the statement that installs the function without its guard."""
        return source(self.function).replace(self.old, self.new)

    def problem(self) -> str | None:
        """Say why it does not apply, or why its killer is no test of behaviour; None when fit."""
        path, _, test = self.killer.partition("::")
        name = test.partition("[")[0]
        if (found := source(self.function).count(self.old)) != 1 or self.old == self.new:
            return f"its old text stands {found} times in the function"
        if not path.startswith(BEHAVIOUR):
            return f"{self.killer!r} is no test of behaviour"
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text():
            return f"there is no {self.killer}"
        return None


def load(functions: list[str] | None = None) -> list[Mutant]:
    """Return the mutants of these functions, or all."""
    found = [
        mutant
        for path in sorted(HERE.glob("*.toml"))
        for slug, fields in tomllib.loads(path.read_text()).items()
        for mutant in _read(path.stem, slug, fields)
    ]
    return [mutant for mutant in found if not functions or mutant.function in functions]


def _read(name: str, slug: str, fields: dict[str, Any]) -> Iterator[Mutant]:
    """Give the mutants that one table of a file stands for."""
    wanted = {each: fields[each] for each in ("guard", "old", "new", "killer")}
    if name != EVERY:
        yield Mutant(name, slug, **wanted)
        return
    for operation in fields.get("of", OPERATIONS):
        whole, meant = source(operation), OPERATIONS[operation].n8n or "n8n" not in fields
        if not meant or operation in fields.get("but", []) or fields.get("beside", "") not in whole:
            continue
        if "inside" in fields or whole.count(fields["old"]) == 1:
            named = {key: text.replace("{operation}", operation) for key, text in wanted.items()}
            yield Mutant(fields.get("inside", operation), slug, **named, operation=operation)


def source(function: str) -> str:
    """Return the statement that installs a function as it is."""
    return (FUNCTIONS / f"{function}.sql").read_text()


def neutral(function: str) -> str:
    """Return the statement for a function that differs in its text and in nothing else."""
    return source(function).replace(BODY, NEUTRAL, 1)


def calls(function: str) -> set[str]:
    """Return a function and all that it calls, directly or through others."""
    found, waiting = set(), [function]
    while waiting:
        name = waiting.pop()
        if name in found or not (FUNCTIONS / f"{name}.sql").is_file():
            continue
        found.add(name)
        waiting += re.findall(r"ledger\.(\w+)\(", source(name))
    return found
