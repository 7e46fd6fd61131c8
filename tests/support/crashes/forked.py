"""Turns in processes of their own, which are killed.

Starting Python for each takes a second, so `python -m tests.support.crashes.forked`, a process
without threads and connections, loads everything and is forked. A line of JSON on its standard
input names a turn and the point to die at; the answer is a line with the pid, how it ended, and
the points it passed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

SIGKILLED = -9


def main() -> None:
    """Fork once a line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "review.settings")
    import django  # noqa: PLC0415 - the environment says which database

    django.setup()
    from sweeper.providers import http_key, webhook  # noqa: F401, PLC0415 - loaded before the fork
    from sweeper.transport import tls_context  # noqa: PLC0415
    from tests.support.crashes.chain import TURNS  # noqa: F401, PLC0415

    tls_context()
    answer({"ready": True})
    for line in sys.stdin:
        wanted = json.loads(line)
        answer(one(wanted["turn"], wanted["die_at"]))


def answer(document: Mapping[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def one(turn: str, die_at: int) -> dict[str, Any]:
    """Run a turn in a fork; it writes each point down before it passes it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(turn, die_at, writing)
    os.close(writing)
    with os.fdopen(reading) as told:
        points = told.read().split()
    _, status = os.waitpid(pid, 0)
    return {"pid": pid, "status": os.waitstatus_to_exitcode(status), "points": points}


def child(turn: str, die_at: int, writing: int) -> None:
    """Take the turn, and die."""
    from ledger import crash  # noqa: PLC0415 - the parent has loaded it
    from tests.support.crashes.chain import TURNS  # noqa: PLC0415

    left = die_at

    def hook(name: str) -> None:
        nonlocal left
        os.write(writing, f"{name}\n".encode())
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)

    crash.arm(hook)
    try:
        TURNS[turn]()
    except BaseException as error:  # noqa: BLE001 - said, and then this process is over
        sys.stderr.write(f"{turn}: {error!r}\n")
        os._exit(1)
    os._exit(0)


class Forked:
    """The other end: runs a turn there, and sees that it was really killed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Take the process when it is ready."""
        self._process = process
        self.killed: list[int] = []
        assert self._answer() == {"ready": True}

    def __call__(self, turn: str, die_at: int | None) -> Any:
        """Run a turn."""
        from tests.support.crashes.chain import Turned  # noqa: PLC0415 - the server imports this

        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"turn": turn, "die_at": die_at}) + "\n")
        self._process.stdin.flush()
        told = self._answer()
        assert told["status"] in (0, SIGKILLED), told
        died = told["status"] == SIGKILLED
        assert died == (len(told["points"]) == die_at), told
        if died:
            self.killed.append(told["pid"])
        return Turned(told["points"], died)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the fork server ended"
        told: dict[str, Any] = json.loads(line)
        return told


@contextmanager
def forked(environment: Mapping[str, str]) -> Iterator[Forked]:
    """Run the fork server."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.crashes.forked"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Forked(process)
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    main()
