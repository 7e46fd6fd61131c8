"""The processes of one running installation: started, watched, restarted, stopped.

Lives here: child processes in general, and the request to stop. Must not live here: which ones
there are (up.py), what is prepared before them (preparation.py).
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from ledger.processes import end_with_parent

GRACE_SECONDS = 2.5
"""Long enough for a request to finish, short enough to stop everything within five seconds."""
LONGEST_PAUSE = 30
"""A child that cannot live is tried again, but not in a loop that eats the machine."""
HEALTHY_SECONDS = 60
"""After so long a death is news again, not the next of a series."""
TICK_SECONDS = 0.2
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether somebody asked to stop, by whatever signal.

    Noted, and raised only inside long steps: an exception out of a signal handler is lost when the
    handler happens to run where Python ignores exceptions (after a fork, in a destructor).
    """

    def __init__(self) -> None:
        """Take the signals over."""
        self.came = False
        self._interrupts = False
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        if self._interrupts:
            raise KeyboardInterrupt

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let a request end the block at once."""
        self._interrupts = True
        try:
            yield
        finally:
            self._interrupts = False
        if self.came:
            raise KeyboardInterrupt

    def ignore_more(self) -> None:
        """Let nobody interrupt the stopping itself."""
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)


@dataclass(frozen=True)
class Program:
    """One program to keep running; with `once`, until it ends by itself without an error."""

    name: str
    command: Sequence[str]
    once: bool = False


class Child:
    """One program and the process it runs in now."""

    def __init__(self, program: Program) -> None:
        """Take the program; it starts at the first look."""
        self.program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = self._start_at = 0.0
        self._deaths = 0
        self._finished = False

    @property
    def is_running(self) -> bool:
        """Say whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def look(self) -> str:
        """Start the process when it is due; say so when it ended and must be started again."""
        if self.is_running or self._finished:
            return ""
        if self._process is None:
            if time.monotonic() >= self._start_at:
                self._start()
            return ""
        status = self._process.returncode
        self.kill()
        if status == 0 and self.program.once:
            self._finished = True
            return ""
        healthy = time.monotonic() - self._started_at > HEALTHY_SECONDS
        self._deaths = 1 if healthy else self._deaths + 1
        pause = min(LONGEST_PAUSE, 2.0 ** (self._deaths - 1) - 1)
        self._start_at = time.monotonic() + pause
        return (
            f"{self.program.name} ended ({_describe(status)}); starting it again in {pause:.0f} s"
        )

    def _start(self) -> None:
        """Start the process in a session of its own: a terminal's Ctrl-C must not reach it."""
        supervisor = os.getpid()
        self._process = subprocess.Popen(
            self.program.command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            # Safe here, where no thread can hold a lock: this process has none.
            preexec_fn=lambda: end_with_parent(signal.SIGTERM, supervisor),  # noqa: PLW1509
        )
        self._started_at = time.monotonic()

    def ask_to_end(self) -> None:
        """Send the main process the usual request."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Kill whatever is left of the process and of those it started."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def _describe(status: int) -> str:
    """Put an exit status into words."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name


class Supervisor:
    """Keeps programs running until it is stopped."""

    def __init__(self, say: Callable[[str], None], note_death: Callable[[str], None]) -> None:
        """Begin with nothing to run."""
        self._children: list[Child] = []
        self._say, self._note_death = say, note_death

    def add(self, programs: Sequence[Program]) -> None:
        """Take programs to keep running; the next tick starts them."""
        self._children += [Child(program) for program in programs]

    def tick(self) -> None:
        """Look at every program once, then rest a moment."""
        for child in self._children:
            if message := child.look():
                self._say(message)
                self._note_death(message)
        time.sleep(TICK_SECONDS)

    def stop(self) -> None:
        """Ask every process to end, then make it."""
        for child in self._children:
            child.ask_to_end()
        deadline = time.monotonic() + GRACE_SECONDS
        while running := [child for child in self._children if child.is_running]:
            if time.monotonic() > deadline:
                names = ", ".join(child.program.name for child in running)
                self._say(f"killing what did not stop in time: {names}")
                break
            time.sleep(0.02)
        for child in self._children:
            child.kill()
