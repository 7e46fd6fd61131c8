"""A private PostgreSQL in the program's own directory.

Lives here: making the data directory, starting or joining the server, stopping it after the last
user. Must not live here: which login a process uses (dsn.py). Standard library only: settings
import this before anything else exists.

Every process that uses the server holds a shared lock on users.lock; start.lock is held around
each start and stop. A small guard process waits for the last user to vanish, however it died.
"""

import atexit
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ledger import pgbin
from ledger.local import ROOT, FileLock, state_dir, write_private

HOST = "127.0.0.1"
SUPERUSER = "postgres"
OWNER = "landed_owner"
APP = "landed_app"
DATABASE = "landed"
START_SECONDS = 30
"""A server that replays its log after a kill, on a slow disk, needs several seconds."""
STOP_SECONDS = 3
"""Sessions are cut at once; what remains is one checkpoint."""
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "''",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Finished queue rows pile up at the head of an index; a minute between visits is too long.
    "autovacuum_naptime": "5s",
}

_users: FileLock | None = None
_guards: list[subprocess.Popen[bytes]] = []


class EmbeddedServerError(RuntimeError):
    """The private server could not be made or started; the message says why."""


@dataclass(frozen=True)
class Server:
    """How to reach the private server; kept in connection.json, readable by its owner only."""

    major: int
    port: int
    superuser_password: str
    owner_password: str
    app_password: str


def base() -> Path:
    """Return the directory of the private server."""
    path = state_dir() / "pg"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def ensure() -> Server:
    """Start or join the private server and stay its user until this process ends."""
    global _users  # noqa: PLW0603  one lock a process, however often it asks
    with FileLock(base() / "start.lock"):
        server = _load()
        binaries = pgbin.find(server.major if server else None)
        if server is None or not _data(server).exists():
            server = _create(binaries)
        if not _running(server):
            server = _start(binaries, server)
        if _users is None:
            _users = FileLock(base() / "users.lock")
            _users.take(exclusive=False)
            atexit.register(_leave, os.getpid())
        _ensure_guard()
    return server


def is_running() -> bool:
    """Say whether the private server answers, without starting it."""
    server = _load()
    return server is not None and _running(server)


# -- making ------------------------------------------------------------------------------------


def _load() -> Server | None:
    """Read connection.json; None before the first start."""
    try:
        return Server(**json.loads((base() / "connection.json").read_text()))
    except FileNotFoundError:
        return None


def _save(server: Server) -> Server:
    """Write connection.json."""
    write_private(base() / "connection.json", json.dumps(asdict(server)))
    return server


def _data(server: Server) -> Path:
    """Return the data directory, one a major version: they cannot read each other's."""
    return base() / f"data{server.major}"


def _create(binaries: pgbin.Binaries) -> Server:
    """Make the data directory with an owner that is no superuser; half-made ones never count."""
    server = Server(
        major=binaries.major,
        port=_free_port(),
        superuser_password=secrets.token_urlsafe(24),
        owner_password=secrets.token_urlsafe(24),
        app_password=secrets.token_urlsafe(24),
    )
    fresh = base() / "half-made"
    shutil.rmtree(fresh, ignore_errors=True)
    password_file = base() / "password"
    write_private(password_file, server.superuser_password)
    # One order of letters on every machine, and upper/lower case beyond ASCII where it is on offer.
    builtin = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    _run(
        binaries.command(
            "initdb",
            f"--pgdata={fresh}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            *(builtin if binaries.major >= 17 else ()),
        )
    )
    password_file.unlink()
    _run(
        binaries.command("postgres", "--single", "-D", str(fresh), "postgres"),
        f"CREATE ROLE {OWNER} LOGIN CREATEDB CREATEROLE PASSWORD '{server.owner_password}'\n"
        f"CREATE DATABASE {DATABASE} OWNER {OWNER}\n",
    )
    _save(server)
    fresh.replace(_data(server))
    return server


def _run(command: list[str], text: str = "") -> None:
    """Run one program of PostgreSQL's; its words go into the error when it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode or "ERROR:" in done.stderr or "FATAL:" in done.stderr:
        name = Path(command[len(pgbin.unprivileged())]).name
        raise EmbeddedServerError(f"{name} failed: {(done.stderr or done.stdout).strip()}")


# -- starting and stopping ---------------------------------------------------------------------


def _start(binaries: pgbin.Binaries, server: Server) -> Server:
    """Start the server, again and again while remains of a killed one are in the way."""
    if _listening(server.port):
        server = _save(Server(**{**asdict(server), "port": _free_port()}))
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    log = base() / "server.log"
    command = binaries.command(
        "pg_ctl",
        f"--pgdata={_data(server)}",
        f"--log={log}",
        f"--timeout={START_SECONDS}",
        f"--options=-c port={server.port} {options}",
        "--wait",
        "--silent",
        "start",
    )
    deadline = time.monotonic() + START_SECONDS
    while True:
        _forget_dead_postmaster(_data(server))
        # No pipes: the server would inherit them and keep them open.
        quiet = subprocess.DEVNULL
        if subprocess.call(command, stdin=quiet, stdout=quiet, stderr=quiet) == 0:
            return server
        if time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise EmbeddedServerError(f"The private PostgreSQL did not start; {log} ends:\n{tail}")
        time.sleep(0.2)


def _running(server: Server) -> bool:
    """Say whether the server is up: its pid file says ready, its process lives, its port answers.

    All three, because a killed postmaster leaves its file behind and its pid may be anybody's now.
    """
    lines = _pid_file(_data(server))
    ready = len(lines) >= 8 and lines[7].strip() == "ready" and lines[3] == str(server.port)
    return ready and _alive(int(lines[0])) and _listening(server.port)


def _pid_file(data: Path) -> list[str]:
    """Read postmaster.pid; empty when there is none."""
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _alive(pid: int) -> bool:
    """Say whether a process lives; a zombie (containers without an init keep them) does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except ProcessLookupError:
        return False
    except (FileNotFoundError, PermissionError):  # no /proc on this system, or not our process
        return True


def _forget_dead_postmaster(data: Path) -> None:
    """Remove a pid file whose pid is a zombie's or a stranger's: PostgreSQL would believe it.

    Its processes all work in the data directory; while one does, the file is not ours to judge.
    """
    lines = _pid_file(data)
    if not lines or not sys.platform.startswith("linux"):
        return
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").samefile(data) and _alive(int(process.name)):
                return
        except OSError:
            continue
    (data / "postmaster.pid").unlink(missing_ok=True)


def _free_port() -> int:
    """Ask the kernel for a port nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _listening(port: int) -> bool:
    """Say whether anything answers on this port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _leave(user: int) -> None:
    """Stop being a user; the last one stops the server. A forked child leaves nothing."""
    if _users is not None and os.getpid() == user:
        _users.close()
        with FileLock(base() / "start.lock"):
            _stop_if_unused()


def _stop_if_unused() -> bool:
    """Stop the server unless somebody uses it; True when it is down afterwards.

    The caller holds start.lock, so nobody can begin to use it meanwhile.
    """
    users = FileLock(base() / "users.lock")
    try:
        if not users.take(exclusive=True, wait=False):
            return False
        server = _load()
        if server and _running(server):
            _stop(_data(server))
        return True
    finally:
        users.close()


def _stop(data: Path) -> None:
    """Ask the postmaster to end all sessions and go; insist when it takes too long."""
    for request in (signal.SIGINT, signal.SIGQUIT):
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(int(_pid_file(data)[0]), request)
        deadline = time.monotonic() + STOP_SECONDS
        while _pid_file(data) and time.monotonic() < deadline:
            time.sleep(0.02)


# -- the guard ---------------------------------------------------------------------------------


def _ensure_guard() -> None:
    """Start the guard process unless there is one. The caller holds start.lock."""
    lock = FileLock(base() / "guard.lock")
    missing = lock.take(exclusive=True, wait=False)
    lock.close()
    if missing:
        code = (
            "import sys; sys.path[:0] = sys.argv[1:]; from ledger import embedded; embedded.guard()"
        )
        quiet = subprocess.DEVNULL
        _guards.append(
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
    """Stop the server once its last user is gone, also when that one was killed.

    The lock is taken and dropped under start.lock, so a starting process sees either a guard that
    will look again or none.
    """
    lock = FileLock(base() / "guard.lock")
    with FileLock(base() / "start.lock"):
        if not lock.take(exclusive=True, wait=False):
            return
    users = FileLock(base() / "users.lock")
    while True:
        users.take(exclusive=True)
        users.release()
        with FileLock(base() / "start.lock"):
            if _stop_if_unused():
                lock.close()
                return
