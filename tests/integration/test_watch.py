"""The watcher from another host's view: every process of `up` is killed while the demo plays."""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from ledger.local import ROOT
from sweeper.killmatrix.server import Journal, running
from tests.support.installation import Installation
from tests.support.processes import PATIENCE, children, free_port, living, manage, up, wait_until
from tests.support.subscriber import Subscriber

INTERVAL = 4
WITHIN = 2.5 * INTERVAL
QUIET = 2 * INTERVAL + 1
"""Without a problem for so long, an incident is over."""
SETTLED_WITHIN = 90
LOGIN = re.compile(r"^(?:CREATE ROLE|GRANT) .*landed_watch.*;$", re.MULTILINE)
PASSWORD = "a-password-for-tests"
TICKS = ("sweep", "promote", "outbox", "dlq")


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    """Run the webhook that is told."""
    with running(Subscriber()) as server:
        yield server


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Give the directory of an installation, empty of processes afterwards."""
    path = tmp_path / "landed"
    path.mkdir()
    yield path
    for pid in living(path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Watcher:
    """`manage.py watch` as cron of another host calls it: an address and a webhook."""

    def __init__(self, installation: Installation, home: Path, subscriber: Subscriber) -> None:
        """Make the login that docs/operations.md names; the address does not change any more."""
        with installation.connect() as owner:
            for statement in LOGIN.findall((ROOT / "docs" / "operations.md").read_text()):
                owner.execute(statement.replace("…", PASSWORD))
        login = f"landed_watch:{PASSWORD}@127.0.0.1:{installation.server().port}"
        self._home, self._subscriber = home, subscriber
        self._environment = {
            "DATABASE_URL": f"postgresql://{login}/landed",
            "LANDED_ALERT_WEBHOOK": subscriber.url,
            "LANDED_PRIVATE_HOSTS": subscriber.host,
        }

    @property
    def told(self) -> list[str]:
        """Return the first problem of each message."""
        return [heard.body["payload"]["problems"][0] for heard in self._subscriber.notes.heard]

    def call(self) -> tuple[int, str]:
        """Call it once; return its exit status and what it printed."""
        process = manage(self._home, "watch", **self._environment)
        said = process.communicate(timeout=PATIENCE)[0]
        return process.returncode, said

    def is_content(self) -> bool:
        """Say whether it finds nothing wrong."""
        return self.call()[0] == 0


@contextmanager
def traffic(directory: Path) -> Iterator[None]:
    """Play one more round of the demo beside whatever happens in the block."""
    round_ = manage(directory, "demo", "--again")
    try:
        yield
    finally:
        with suppress(subprocess.TimeoutExpired):
            round_.communicate(timeout=SETTLED_WITHIN)  # it may fail: its console was killed
        round_.kill()
        round_.communicate()


def one(directory: Path, words: str) -> int:
    """Find the oldest process with these words in its command line."""
    return min(pid for pid, command in living(directory).items() if words in command)


def test_each_process_killed_is_told_once_and_comes_back(
    directory: Path, tmp_path: Path, subscriber: Subscriber
) -> None:
    """The watcher fails, its target hears of it once in time, and nothing is lost or sent twice."""
    with up(directory, "--port", free_port()) as running_up:
        running_up.read_until(r"open http://\S+?/admin")
        installation = Installation.found(directory)
        with installation.connect() as session:
            for tick in TICKS:
                session.execute(
                    "UPDATE policies SET value = %s WHERE name = %s",
                    [str(INTERVAL), f"{tick}_interval_s"],
                )
        watcher = Watcher(installation, tmp_path / "elsewhere", subscriber)
        _wait_until_all_is_well(watcher, "every tick has run")
        victims: dict[str, Callable[[], object]] = {
            "web": lambda: os.kill(one(directory, "granian"), signal.SIGKILL),
            "worker": lambda: os.kill(_child(running_up.process.pid, "worker"), signal.SIGKILL),
            "native worker": lambda: os.kill(
                _child(running_up.process.pid, "work"), signal.SIGKILL
            ),
            "demo": lambda: os.kill(_child(running_up.process.pid, "demo"), signal.SIGKILL),
            "PostgreSQL": installation.kill_postgres,
        }
        before: set[str] = set()
        for name, kill in victims.items():
            with traffic(directory):
                time.sleep(1)  # so that it is at work
                before |= _jobs(installation)
                _kill_and_hear(watcher, name, kill)
        wait_until(lambda: _is_settled(installation), "every job has ended")
        assert before <= _jobs(installation)
        assert _most_effects(directory) == 1
        _kill_and_hear(watcher, "up", running_up.process.kill, comes_back=False)


class Mailbox:
    """A mail server that keeps subjects."""

    def __init__(self) -> None:
        """Begin empty."""
        self.subjects: list[str] = []

    async def take(self, _server: object, _session: object, envelope: Any) -> str:
        """Take one mail."""
        self.subjects.append(message_from_bytes(envelope.content)["Subject"])
        return "250 taken"

    handle_DATA = take  # noqa: N815  the name aiosmtpd calls


def test_without_a_database_it_still_mails(tmp_path: Path) -> None:
    """Nobody can be asked, which is what there is to tell: once, however often it is called."""
    mailbox, nowhere = Mailbox(), "postgresql://x@127.0.0.1:1/x"
    port = free_port()
    mail = {"DATABASE_URL": nowhere, "EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": port}
    command = ("watch", "--mail", "a@example.com")
    refused = manage(tmp_path, *command, **mail)
    said = refused.communicate(timeout=PATIENCE)[0]
    assert refused.returncode == 1
    assert "PostgreSQL did not answer" in said
    assert "nobody could be told" in said
    server = Controller(mailbox, hostname="127.0.0.1", port=int(port))
    server.start()
    try:
        for _ in range(2):
            called = manage(tmp_path, *command, **mail)
            assert "nobody could be told" not in called.communicate(timeout=PATIENCE)[0]
            assert called.returncode == 1
    finally:
        server.stop()
    (subject,) = mailbox.subjects
    assert subject.startswith("[Landed] PostgreSQL did not answer")


def test_somebody_has_to_be_told(tmp_path: Path) -> None:
    """A watcher without a target is no watcher."""
    process = manage(tmp_path, "watch", DATABASE_URL="postgresql://x@127.0.0.1:1/x")
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 1
    assert "Name somebody to tell" in said


def _kill_and_hear(
    watcher: Watcher, name: str, kill: Callable[[], object], *, comes_back: bool = True
) -> None:
    """Kill, and hear of it once and in time; then everything is well again, without a word."""
    told = len(watcher.told)
    killed = time.monotonic()
    kill()
    statuses = []
    while len(watcher.told) == told:
        looked = time.monotonic() - killed  # how long a call takes is this machine's affair
        statuses.append(watcher.call())
        assert looked < PATIENCE, (name, statuses)
    assert statuses[-1][0] == 1
    print(f"{name}: seen after {looked:.1f} s: {watcher.told[-1]}")  # noqa: T201
    assert looked <= WITHIN, (name, statuses)
    if comes_back:
        _wait_until_all_is_well(watcher, f"{name} is back")
    assert len(watcher.told) == told + 1, watcher.told


def _wait_until_all_is_well(watcher: Watcher, what: str) -> None:
    """Wait until nothing was wrong for so long that an incident is over."""
    began = well_since = time.monotonic()
    while time.monotonic() - well_since <= QUIET:
        if not watcher.is_content():
            well_since = time.monotonic()
        assert time.monotonic() - began < 2 * PATIENCE, f"still not so: {what}"


def _child(parent: int, command: str) -> int:
    """Find the child of `up` that runs a command, as soon as there is one."""

    def found() -> list[int]:
        listed = children(parent, f"manage.py {command}")
        return [pid for pid in listed if _runs(pid, command)]

    return wait_until(found, f"{command} runs")[0]


def _runs(pid: int, command: str) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").endswith(command.encode())


def _jobs(installation: Installation) -> set[str]:
    return {row["id"] for row in installation.rows("SELECT id FROM jobs")}


def _is_settled(installation: Installation) -> bool:
    under_way = "SELECT id FROM jobs WHERE state IN ('queued', 'claimed', 'sweeping')"
    return not installation.rows(under_way)


def _most_effects(directory: Path) -> int:
    """Return how often the effect that happened most often did happen."""
    journal = Journal(directory / "demo" / "effects.jsonl")
    journal.close()
    counted = Counter((e["kind"], e["key"]) for e in journal.entries if e["item"] is not None)
    return max(counted.values())
