"""A private PostgreSQL, shared by every process of this installation and by nobody else.

Lives here: joining the server, starting it for the first user and stopping it after the last.
Must not live here: the server itself (pgdata.py), which login a process uses (dsn.py). Standard
library only: settings import this before anything else exists.

Every process that uses the server holds a shared lock on users.lock, which the kernel drops with
the process; start.lock is held around each start and stop. A small guard process waits for the
last user to vanish, so that the server goes even when that one was killed.
"""

import atexit
import os
import subprocess
import sys

from ledger import pgbin, pgdata
from ledger.local import ROOT, FileLock, state_dir


class _Membership:
    """This process's use of the server; a forked child has none of its own."""

    lock: FileLock | None = None
    pid = 0
    guards: list[subprocess.Popen[bytes]] = []  # noqa: RUF012  kept so that nobody waits for them


def ensure() -> pgdata.Server:
    """Start or join the private server and stay its user until this process ends."""
    with _starting():
        server = pgdata.load()
        binaries = pgbin.find(server.major if server else None)
        server = server or pgdata.create(binaries)
        if not server.answers():
            server = pgdata.start(binaries, server)
        if _Membership.lock is None:
            _Membership.lock, _Membership.pid = _users(), os.getpid()
            _Membership.lock.take(exclusive=False)
            atexit.register(leave)
        _ensure_guard()
    return server


def is_alive() -> bool:
    """Say whether the private server lives; neither starts nor disturbs it."""
    server = pgdata.load()
    return server is not None and server.is_alive()


def leave() -> None:
    """Stop being a user; the last one stops the server."""
    if _Membership.lock is None or os.getpid() != _Membership.pid:
        return
    _Membership.lock.close()
    _Membership.lock = None
    with _starting():
        _stop_if_unused()


def _starting() -> FileLock:
    """Return the lock under which the server is started and stopped."""
    return FileLock(pgdata.base() / "start.lock")


def _users() -> FileLock:
    """Return the lock that every user shares."""
    return FileLock(pgdata.base() / "users.lock")


def _stop_if_unused() -> bool:
    """Stop the server unless somebody uses it; True when it is down afterwards.

    The caller holds the start lock, so nobody can begin to use it meanwhile.
    """
    users = _users()
    unused = users.take(exclusive=True, wait=False)
    if unused and (server := pgdata.load()):
        pgdata.stop(server)
    users.close()
    return unused


# -- the guard ---------------------------------------------------------------------------------


def _guard_lock() -> FileLock:
    """Return the lock the one guard holds."""
    return FileLock(pgdata.base() / "guard.lock")


def _ensure_guard() -> None:
    """Start the guard unless there is one. The caller holds the start lock."""
    lock = _guard_lock()
    missing = lock.take(exclusive=True, wait=False)
    lock.close()
    if not missing:
        return
    code = "import sys; sys.path[:0] = sys.argv[1:]; from ledger import embedded; embedded.guard()"
    quiet = subprocess.DEVNULL
    _Membership.guards.append(
        subprocess.Popen(
            [sys.executable, "-I", "-c", code, str(ROOT)],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
            env={**os.environ, "LANDED_DIR": str(state_dir())},
        )
    )


def guard() -> None:
    """Wait for the last user to vanish, stop the server, end.

    The guard's lock is taken and dropped under the start lock, so a starting process sees either a
    guard that will look again or none.
    """
    lock = _guard_lock()
    with _starting():
        if not lock.take(exclusive=True, wait=False):
            return
    users = _users()
    while True:
        users.take(exclusive=True)
        users.release()
        with _starting():
            if _stop_if_unused():
                lock.close()
                return
