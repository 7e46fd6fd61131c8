"""The program's own directory and the private files and locks in it.

Lives here: where that directory is, files only their owner can read, file locks between processes.
Must not live here: anything that knows Django or PostgreSQL (this is imported before either).
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self


class SetupError(Exception):
    """Something about this machine or its settings; the message tells a person what to do."""


ROOT = Path(__file__).resolve().parent.parent


def state_dir() -> Path:
    """Return the directory for everything this installation makes, creating it when missing."""
    path = Path(os.environ.get("LANDED_DIR") or ROOT / ".landed").absolute()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace a file at once by one that only its owner can read."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.replace(path)


def kept_secret(name: str, make: Callable[[], str]) -> str:
    """Return the secret kept under this name; make it the first time, once for all processes."""
    path = state_dir() / name
    if not path.exists():
        with FileLock(state_dir() / "secrets.lock"):
            if not path.exists():
                write_private(path, make())
    return path.read_text()


class FileLock:
    """A lock between processes that the kernel drops when its last holder dies.

    As a context manager it is exclusive and waits. A forked child shares its parent's lock.
    """

    def __init__(self, path: Path) -> None:
        """Open the lock file, taking nothing yet."""
        self._file = path.open("a+b")

    def take(self, *, exclusive: bool, wait: bool = True) -> bool:
        """Take or change the lock; False means that somebody else holds it."""
        mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(self._file, mode if wait else mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give the lock up, keeping the file open to take it again."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give the lock up for good."""
        self._file.close()

    def __enter__(self) -> Self:
        """Wait for the exclusive lock."""
        self.take(exclusive=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock up."""
        self.close()
