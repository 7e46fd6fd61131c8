"""Running the program as a user does: real processes, found and ended by their directory."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ledger.local import ROOT

STOPPED_WITHIN = 5
OPEN = r"\[ *([0-9.]+) s\] open (http://\S+)"
"""What `up` says once a page can be opened: after how many seconds, and where."""
PATIENCE = 30
"""Longer than anything here takes on a busy machine; a wait that needs it is a failure."""
NOT_INHERITED = (
    *("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DIRECT_URL", "DJANGO_SETTINGS_MODULE"),
    "DJANGO_ALLOW_ASYNC_UNSAFE",  # set for the browser, whose loop runs in the tests' own thread
)


def environment(directory: Path, **more: str) -> dict[str, str]:
    """Return an environment in which the program keeps everything in this directory."""
    inherited = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}
    return {**inherited, "LANDED_DIR": str(directory), "PYTHONUNBUFFERED": "1", **more}


def python(directory: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """Start Python in the project with this directory."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(directory, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def manage(directory: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """Start a management command with this directory."""
    return python(directory, "manage.py", *arguments, **more)


def free_port() -> str:
    """Return a port nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_until[Result](answer: Callable[[], Result], what: str) -> Result:
    """Ask again and again until the answer is true; fail in words when it never is."""
    deadline = time.monotonic() + PATIENCE
    while not (result := answer()):
        assert time.monotonic() < deadline, f"still not so after {PATIENCE} s: {what}"
        time.sleep(0.05)
    return result


def living(directory: Path) -> dict[int, str]:
    """List the processes that belong to this directory: pid and command line."""
    mark = f"LANDED_DIR={directory}\0".encode()
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ours = mark in (process / "environ").read_bytes()
            inside = (process / "cwd").resolve().is_relative_to(directory)  # PostgreSQL's own
        except OSError:
            continue
        pid = int(process.name)
        if (ours or inside) and is_alive(pid) and pid != os.getpid():
            found[pid] = _command(process)
    return found


def children(pid: int, words: str) -> list[int]:
    """List the children of a process with these words in their command line, oldest first."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in listed if words in _command(Path("/proc", child))]


def is_alive(pid: int) -> bool:
    """Say whether a process lives; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def _command(process: Path) -> str:
    """Return the command line of a process, empty when it has gone."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


class Up:
    """A running `manage.py up`, or what runs like it, whose output is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Take the process."""
        self.process = process
        self.output = ""

    def read_until(self, pattern: str) -> re.Match[str]:
        """Read lines up to one that has the pattern."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"{pattern!r} never came:\n{self.output}")

    def finish(self) -> str:
        """Read the rest and wait for the end."""
        self.output += self.process.communicate(timeout=PATIENCE)[0]
        return self.output


def stop(running: Up, directory: Path, request: signal.Signals = signal.SIGINT) -> None:
    """Ask it to stop; it does so in time and leaves nothing running."""
    running.process.send_signal(request)
    output = running.finish()
    took = re.search(r"everything has stopped, in ([0-9.]+) s", output)
    assert took, output
    assert float(took[1]) < STOPPED_WITHIN, output
    assert living(directory) == {}
    assert running.process.returncode == 0


def up(directory: Path, *arguments: str, **more: str) -> AbstractContextManager[Up]:
    """Run `manage.py up`."""
    return started(directory, "up", *arguments, **more)


@contextmanager
def started(directory: Path, *command: str, **more: str) -> Iterator[Up]:
    """Run what runs until Ctrl-C; whatever the test does, nothing of it is left behind."""
    process = manage(directory, *command, **more)
    try:
        yield Up(process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.close()
        wait_until(lambda: not living(directory), "every process of the directory has ended")
