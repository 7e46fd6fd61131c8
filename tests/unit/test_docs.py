"""What the documents say is true of the code."""

import re
from pathlib import Path

from ledger.catalog import OPERATIONS
from ledger.shipped import POLICIES, TRANSITIONS
from review.rights import RIGHT_WORDS, ROLES
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


PROGRAM = [
    path
    for floor in ("ledger", "sweeper", "review")
    for path in sorted((ROOT / floor).rglob("*.py"))
    if not {"migrations", "bench"} & set(path.parts)
]


def test_keys_are_made_in_sql_alone() -> None:
    """Nothing else on the way of an event hashes it or puts a key together."""
    of_other_things = {
        "ledger/api/auth.py",  # tokens
        "ledger/operations/tokens.py",
        "ledger/rules/text.py",  # a rule's own source
        "sweeper/last_matrix.py",  # the program's own text
        "sweeper/n8n/engine/packages.py",  # a lock file
        "sweeper/n8n/lint/export.py",  # what of a workflow runs
    }
    apart = {"providers", "killmatrix", "demo", "review"}  # they are given a finished key
    hashing = {
        path.relative_to(ROOT).as_posix()
        for path in PROGRAM
        if not apart & set(path.relative_to(ROOT).parts)
        and re.search(r"\bhashlib\b|\bhmac\b|\bblake2|\bmd5\b", path.read_text())
    }
    assert hashing == of_other_things


def test_no_execution_of_n8n_is_ever_retried() -> None:
    """An event is worked again from its job; a dead run is not played again."""
    texts = {*PROGRAM, *(ROOT / "ledger" / "sql").rglob("*.sql")}
    for path in texts - {ROOT / "sweeper/n8n/lint/rules/retried_execution.py"}:  # it forbids it
        found = re.search(r"executions?/[^\s\"']*retry|/retry\b", path.read_text())
        assert not found, f"{path}: {found}"


KNOWN_INTERVALS = {
    "claim_next_jobs": {"1 hour"},  # how much longer a key is kept than needed: see extend_key
    "extend_key": {"1 hour"},
    "gate": {"1 hour"},
    "daily_report": {"1 day"},  # what a day is
    "decide_job": {"1 day"},  # the most a sweeper may put a look off
    "decide_run": {"24 hours"},
    "extend_partitions": {"1 month"},  # what a partition is
    "record_access": {"1 minute"},  # what a minute is
    "release_job": {"0"},
    "take_outbox": {"30 seconds", "10 minutes"},  # from the first to the longest pause
}
"""Times that no policy holds, with the reason; whatever else is decided by time is a policy."""


def test_times_are_policies() -> None:
    """A horizon or threshold in a function would be a second truth beside the policy's row."""
    found: dict[str, set[str]] = {}
    for path in SQL.glob("*.sql"):
        text = re.sub(r"--.*", "", path.read_text())
        if times := set(re.findall(r"interval '([^']*)'|secs => (\d+)", text)):
            found[path.stem] = {first or second for first, second in times}
    assert found == KNOWN_INTERVALS


def test_the_gallery_is_listed_as_it_is() -> None:
    """Each profile has one row, with its class and its status."""
    listed = {
        cells[1].strip(" `"): (cells[3].strip(), cells[6].strip())
        for line in (ROOT / "docs" / "providers.md").read_text().splitlines()
        if len(cells := line.split("|")) == 8 and cells[1].startswith(" `")
    }
    shipped = {name: profiles.read(name).data for name in profiles.names()}
    assert listed == {name: (data["class"], data["status"]) for name, data in shipped.items()}


def test_the_roles_are_listed_as_they_are() -> None:
    """Each right has one row, and each role exactly the rights it is given."""
    rows = [
        [cell.strip(" `*") for cell in line.strip("| ").split("|")]
        for line in (ROOT / "docs" / "roles.md").read_text().splitlines()
        if line.startswith("|") and not line.startswith("|--")
    ]
    (_, *roles, _), *rights = rows
    listed = {
        role: {row[0] for row in rights if row[number] == "yes"}
        for number, role in enumerate(roles, start=1)
    }
    assert listed == {role: set(held) for role, held in ROLES.items()}
    words = {row[0]: row[-1] for row in rights}
    assert {right: words[right] for right in RIGHT_WORDS} == dict(RIGHT_WORDS)


def test_every_document_is_reached_from_the_readme() -> None:
    """By links of the README, or of a document it leads to."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
            waiting += [(page.parent / link).resolve() for link in links]
    for page in seen:
        assert page.exists(), page
    assert {*(ROOT / "docs").rglob("*.md")} <= seen
    named = (ROOT / "README.md").read_text()
    for name in ("operations", "killmatrix", "providers", "roles"):
        assert f"](docs/{name}.md)" in named
