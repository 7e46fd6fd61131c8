"""PostgreSQL killed again and again under load: nothing that was acknowledged is lost."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from tests.support import crash
from tests.support.installation import Installation
from tests.support.machine.fold import Fold
from tests.support.processes import PATIENCE, living, manage, python

pytestmark = pytest.mark.slow

KILLS, WORKERS, SWEEPERS = 60, 4, 2
BOUND = crash.LEASE + crash.SETTLE + 2 * (crash.INTERVAL + crash.SWEEP_LEASE)
ENDED = {"done", "review", "dead", "abandoned"}


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Give the directory of an installation, empty of processes afterwards."""
    yield tmp_path
    for pid in living(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def crew(installation: Installation, provider: str) -> Iterator[list["subprocess.Popen[str]"]]:
    """Run the workers and the sweepers; whatever happens, none is left behind."""
    with ExitStack() as stack:
        directory = installation.directory
        worker = ("-m", "tests.support.crash", "work")
        sweeper = ("sweep", "--loop", "--interval", str(crash.INTERVAL))
        logs = [str(directory / f"worker{n}.jsonl") for n in range(WORKERS)]
        processes = [
            python(directory, *worker, str(n), provider, log) for n, log in enumerate(logs)
        ]
        processes += [manage(directory, *sweeper) for _ in range(SWEEPERS)]
        for process in processes:
            stack.callback(process.communicate)
            stack.callback(process.kill)
        for process in processes[:WORKERS]:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield processes


def drain(process: "subprocess.Popen[str]") -> str:
    """End a process in order and return what it said."""
    process.terminate()
    said: str = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    return said


def heard(directory: Path) -> list[dict[str, Any]]:
    """Return every answer a worker heard."""
    return [
        json.loads(line)
        for log in directory.glob("worker*.jsonl")
        for line in log.read_text().splitlines()
    ]


def unfinished(installation: Installation) -> list[dict[str, Any]]:
    """List the jobs nobody has ended yet."""
    return installation.rows(
        "SELECT id, state, lease_expires_at, settle_until FROM jobs"
        " WHERE state NOT IN ('done', 'review', 'dead', 'abandoned')"
    )


def test_kill_9_sixty_times_a_second_apart(directory: Path) -> None:
    """0 acknowledged rows lost; every row terminal or in review within the bound; sends counted."""
    installation = Installation(directory)
    keeper = python(directory, "-m", "tests.support.crash", "keep")
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    with running(MockProvider(("127.0.0.1", 0))) as provider:
        config = {
            "url": f"{provider.url}/mail",
            "add": {"message_id": "{handle}"},
            "log_url": f"{provider.url}/mail?message_id={{handle}}",
            "allow_private": ["127.0.0.1"],
        }
        with installation.connect() as session:
            for statement in crash.REGISTER.split(";\n"):
                if statement.strip():
                    given = [json.dumps(config)] if "%s" in statement else None
                    session.execute(statement, given)
        with crew(installation, provider.url) as processes:
            kill_again_and_again(installation)
            for worker in processes[:WORKERS]:
                worker.terminate()  # no new events; what waits is still worked off
            stopped = time.monotonic()
            while left := unfinished(installation):
                assert time.monotonic() - stopped < BOUND + PATIENCE, left
                time.sleep(0.5)
            took = time.monotonic() - stopped
            for process in processes:
                drain(process)
        judge(installation, provider, heard(directory))
    drain(keeper)
    answers = len(heard(directory))
    print(f"\n{KILLS} kills, {answers} answers, the last row ended after {took:.1f} s")  # noqa: T201
    assert answers > 100 * WORKERS
    assert took <= BOUND


def kill_again_and_again(installation: Installation) -> None:
    """Kill PostgreSQL every second, counted from when it takes connections again."""
    kills = 0
    while kills < KILLS:
        installation.connect().close()
        time.sleep(1)
        kills += installation.kill_postgres()


def judge(
    installation: Installation, provider: MockProvider, answers: list[dict[str, Any]]
) -> None:
    """Hold what callers heard, what the audit tells and what the provider counted against rows."""
    jobs = {row["id"]: row for row in installation.rows("SELECT * FROM jobs")}
    acknowledged = {entry["job_id"] for entry in answers if entry["job_id"]}
    assert acknowledged <= jobs.keys()
    for entry in answers:
        if entry["op"] == "complete_job" and entry["outcome"] in ("won", "replay"):
            assert jobs[entry["job_id"]]["state"] == "done", entry
    fold = Fold(sensitive="")
    for event in installation.rows(
        "SELECT id, tx, op, outcome, key, row_count, job_id, conflict_id, attempt, after, reason"
        " FROM audit_events ORDER BY id"
    ):
        fold.take(event)
    told = {
        id_: (job.state, job.attempts, job.send_no, job.version) for id_, job in fold.jobs.items()
    }
    assert told == {
        id_: (row["state"], row["attempts"], row["send_no"], row["version"])
        for id_, row in jobs.items()
    }
    counts = provider.effects.counts()
    for kind in ("mail", "hook"):
        assert max(Counter(counts[kind]["by_key"]).values(), default=0) <= 1, kind
    charged = Counter(counts["charges"]["by_key"])
    assert max(charged.values(), default=0) == 1
    for row in jobs.values():
        if row["effect"] == "charge":
            assert row["state"] in ENDED
