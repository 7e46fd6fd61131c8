"""The kill matrix as a user runs it: green on this code, red as soon as the guard is broken."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import psycopg
import pytest
from django.core.management import CommandError, call_command

from sweeper.killmatrix.cells import FEWEST
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from tests.support.installation import Installation
from tests.support.processes import living, manage, python

WITHIN = 120

DEFINITION = """
SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'ledger' AND p.proname = %s
"""
# The one rule for repeats, given up: everything counts as safe to send again.
RESEND = {"may_redrive": "true", "recovery_class": "'forced_unique'"}


def break_the_guard(owner: psycopg.Connection) -> None:
    """Let the rule allow everything, whatever it is asked."""
    for name, answer in RESEND.items():
        (row,) = owner.execute(DEFINITION, [name]).fetchall()
        head, _, _ = row[0].partition("AS $function$")
        owner.execute(f"{head} AS $function$BEGIN RETURN {answer}; END$function$")


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Give the directory of an installation, empty of processes afterwards."""
    path = tmp_path / "landed"
    path.mkdir()
    yield path
    for pid in living(path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def run(directory: Path, out: Path, *options: str, **more: str) -> tuple[int, str]:
    """Run the command; return its status and what it printed."""
    process = manage(directory, "killmatrix", "--out", str(out), *options, **more)
    said = process.communicate(timeout=3 * WITHIN)[0]
    print(said)  # noqa: T201 - the table, shown when the test fails
    return process.returncode, said


def test_every_cell_is_as_expected(directory: Path, tmp_path: Path) -> None:
    """Each cell names a process that was killed and the lines of the log; a mock is called one."""
    status, said = run(directory, tmp_path / "out")
    report: dict[str, Any] = json.loads((tmp_path / "out" / "last.json").read_text())
    assert (status, report["ok"], report["problems"]) == (0, True, [])
    assert report["provider"] == "mock"
    assert "at the mock provider" in said
    assert report["seconds"] <= WITHIN
    assert len(report["cells"]) >= FEWEST
    for cell in report["cells"]:
        assert {kill["signal"] for kill in cell["kills"]} == {-9}
        assert bool(cell["relay_log"]) or cell["effects"] == 0
        pids = [str(kill["pid"]) for kill in cell["kills"]]
        assert all(pid in said for pid in pids)
    assert {len(cell["kills"]) for cell in report["cells"]} == {1, 2}
    suite = ET.fromstring((tmp_path / "out" / "junit.xml").read_text())  # noqa: S314 - our own
    assert (suite.get("failures"), suite.get("tests")) == ("0", str(len(report["cells"]) + 1))
    assert "as expected" in (tmp_path / "out" / "last.html").read_text()
    assert not (directory / "killmatrix").exists()


def test_against_a_provider_the_relay_counts(directory: Path, tmp_path: Path) -> None:
    """Somebody else's provider has no counter: the relay counts what was accepted, not replays."""
    with running(MockProvider(("127.0.0.1", 0))) as provider:
        options = ("--class", "forced_unique", "--against", provider.url)
        status, said = run(directory, tmp_path / "out", *options)
        counted = provider.effects.counts()["charges"]["total"]
    report: dict[str, Any] = json.loads((tmp_path / "out" / "last.json").read_text())
    assert (status, report["ok"], report["provider"]) == (0, True, provider.url)
    assert "by the relay's log" in said
    assert counted == len(report["cells"]) == sum(cell["effects"] for cell in report["cells"])
    assert any(len(cell["relay_log"]) > 1 for cell in report["cells"])


def test_a_broken_guard_turns_it_red(directory: Path, tmp_path: Path) -> None:
    """A ledger that re-sends everything is caught by the provider's own count."""
    keeper = python(directory, "-m", "tests.support.crash", "keep")
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    with Installation(directory).connect() as owner:
        break_the_guard(owner)
    status, said = run(
        directory, tmp_path / "out", "--class", "advisory_blind", LANDED_KILLMATRIX="1"
    )
    keeper.terminate()
    keeper.communicate()
    report: dict[str, Any] = json.loads((tmp_path / "out" / "last.json").read_text())
    assert (status, report["ok"]) == (1, False)
    assert max(cell["effects"] for cell in report["cells"]) > 1
    assert "RED: cell 1 advisory_blind: expected 1 effects and review" in said
    suite = ET.fromstring((tmp_path / "out" / "junit.xml").read_text())  # noqa: S314 - our own
    assert int(suite.get("failures") or 0) >= 3


@pytest.mark.parametrize("against", ["http://127.0.0.1:1", "nonsense", "http://[bad"])
def test_a_provider_that_is_not_there_is_refused_at_once(against: str) -> None:
    """Nothing is started and nothing killed for it."""
    with pytest.raises(CommandError, match=r"nothing answers at .*; give the base URL"):
        call_command("killmatrix", "--against", against)
