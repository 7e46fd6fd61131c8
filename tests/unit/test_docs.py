"""What the documents say is true of the code."""

import re
from pathlib import Path

from ledger.catalog import OPERATIONS
from ledger.shipped import POLICIES, TRANSITIONS
from sweeper import profiles

ROOT = Path(__file__).resolve().parents[2]
SQL = ROOT / "ledger" / "sql" / "functions"


def test_state_machine_diagrams_equal_the_shipped_transitions() -> None:
    """Each arrow drawn is allowed, each allowed move is drawn."""
    text = (ROOT / "docs" / "state_machine.md").read_text()
    drawn = {
        machine: set(re.findall(r"^ +(\w+) --> (\w+):", body, re.MULTILINE))
        for machine, body in re.findall(r"(?ms)^## (\w+)\n(.*?)(?=^## |\Z)", text)
    }
    shipped = {
        machine: {(before, after) for before, afters in moves.items() for after in afters}
        for machine, moves in TRANSITIONS.items()
    }
    assert drawn == shipped


def test_every_function_opens_with_its_name_and_carries_it_as_comment() -> None:
    """The first line of a function's file is its purpose; the catalog repeats it."""
    for path in SQL.glob("*.sql"):
        text = path.read_text()
        assert text.startswith(f"-- {path.stem}: "), path.name
        assert "COMMENT ON FUNCTION ledger." in text, path.name


def test_every_policy_that_sql_reads_is_shipped() -> None:
    """A policy named in SQL exists, so no constant silently becomes NULL."""
    shipped = {name for name, *_ in POLICIES}
    for path in SQL.glob("*.sql"):
        for name in re.findall(r"ledger\.(?:policy|seconds)\('(\w+)'\)", path.read_text()):
            assert name in shipped, f"{path.name}: {name}"


def test_every_operation_has_its_file() -> None:
    """One grep finds an operation's file by its name."""
    assert {path.stem for path in SQL.glob("*.sql")} >= set(OPERATIONS)


def test_the_gallery_is_listed_as_it_is() -> None:
    """Each profile has one row, with its class and its status."""
    listed = {
        cells[1].strip(" `"): (cells[3].strip(), cells[6].strip())
        for line in (ROOT / "docs" / "providers.md").read_text().splitlines()
        if len(cells := line.split("|")) == 8 and cells[1].startswith(" `")
    }
    shipped = {name: profiles.read(name).data for name in profiles.names()}
    assert listed == {name: (data["class"], data["status"]) for name, data in shipped.items()}
