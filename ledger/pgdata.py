"""The data directory of the private PostgreSQL and the server process that works in it.

Lives here: making the directory, how to reach it, whether its server lives, starting and stopping
it. Must not live here: who uses it (embedded.py), where the programs are (pgbin.py). Standard
library only. Callers hold embedded.py's start lock around everything that changes something.
"""

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
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ledger import pgbin
from ledger.local import SetupError, state_dir, write_private

HOST = "127.0.0.1"
SUPERUSER = "postgres"
OWNER = "landed_owner"
APP = "landed_app"
DATABASE = "landed"
START_SECONDS = 30
"""A server that replays its log after a kill, on a slow disk, needs several seconds."""
STOP_SECONDS = 2
"""Sessions are cut at once; the checkpoint that remains can be left to the next start."""
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "''",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Finished queue rows pile up at the head of an index; a minute between visits is too long.
    "autovacuum_naptime": "5s",
}
BUILTIN_LOCALE_SINCE = 17


def base() -> Path:
    """Return the directory of the private server."""
    path = state_dir() / "pg"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


@dataclass(frozen=True)
class Server:
    """One data directory and how to reach its server; kept in a file only its owner can read."""

    major: int
    port: int
    superuser_password: str
    owner_password: str
    app_password: str

    @property
    def data(self) -> Path:
        """Return the data directory, one a major version: they cannot read each other's."""
        return base() / f"data{self.major}"

    def save(self) -> None:
        """Write connection.json."""
        write_private(base() / "connection.json", json.dumps(asdict(self)))

    def is_alive(self) -> bool:
        """Say whether the server's own file says ready and its process lives.

        Both, because a killed postmaster leaves its file behind.
        """
        lines = _pid_file(self.data)
        ready = len(lines) >= 8 and lines[7].strip() == "ready" and lines[3] == str(self.port)
        return ready and _lives(int(lines[0]))

    def answers(self) -> bool:
        """Say whether the server lives and takes connections."""
        return self.is_alive() and _listening(self.port)


def load() -> Server | None:
    """Return the server made here; None before there was one."""
    try:
        server = Server(**json.loads((base() / "connection.json").read_text()))
    except FileNotFoundError:
        return None
    return server if server.data.exists() else None


# -- making ------------------------------------------------------------------------------------


def create(binaries: pgbin.Binaries) -> Server:
    """Make the data directory with an owner that is no superuser; a half-made one never counts."""
    server = Server(
        major=binaries.major,
        port=_free_port(),
        superuser_password=secrets.token_urlsafe(24),
        owner_password=secrets.token_urlsafe(24),
        app_password=secrets.token_urlsafe(24),
    )
    if server.data.exists():  # somebody's data, whose passwords are lost
        raise SetupError(
            f"{server.data} exists, but {base() / 'connection.json'} does not. Put that file back, "
            "or move the directory away to begin with an empty database."
        )
    fresh = base() / "half-made"
    shutil.rmtree(fresh, ignore_errors=True)
    password_file = base() / "password"
    write_private(password_file, server.superuser_password)
    options = [f"--pgdata={fresh}", f"--username={SUPERUSER}", f"--pwfile={password_file}"]
    options += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
    if binaries.major >= BUILTIN_LOCALE_SINCE:  # upper and lower case beyond ASCII
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    _run(binaries.command("initdb", *options))
    password_file.unlink()
    _run(
        binaries.command("postgres", "--single", "-D", str(fresh), "postgres"),
        f"CREATE ROLE {OWNER} LOGIN CREATEDB CREATEROLE PASSWORD '{server.owner_password}'\n"
        f"CREATE DATABASE {DATABASE} OWNER {OWNER}\n",
    )
    server.save()
    fresh.replace(server.data)
    return server


def _run(command: list[str], text: str = "") -> None:
    """Run one program of PostgreSQL's; its words go into the error when it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode or "ERROR:" in done.stderr or "FATAL:" in done.stderr:
        name = Path(command[len(pgbin.unprivileged())]).name
        raise SetupError(f"{name} failed: {(done.stderr or done.stdout).strip()}")


# -- starting and stopping ---------------------------------------------------------------------


def start(binaries: pgbin.Binaries, server: Server) -> Server:
    """Start the server, again and again while remains of a killed one are in the way."""
    if _listening(server.port):  # somebody else took the port meanwhile
        server = replace(server, port=_free_port())
        server.save()
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    log = base() / "server.log"
    command = binaries.command(
        "pg_ctl",
        f"--pgdata={server.data}",
        f"--log={log}",
        f"--timeout={START_SECONDS}",
        f"--options=-c port={server.port} {options}",
        "--wait",
        "--silent",
        "start",
    )
    deadline = time.monotonic() + START_SECONDS
    while True:
        _forget_dead_postmaster(server.data)
        # No pipes: the server would inherit them and keep them open.
        quiet = subprocess.DEVNULL
        if subprocess.call(command, stdin=quiet, stdout=quiet, stderr=quiet) == 0:
            return server
        if time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise SetupError(f"The private PostgreSQL did not start; {log} ends:\n{tail}")
        time.sleep(0.2)


def stop(server: Server) -> None:
    """Ask the postmaster to end all sessions and go; insist when it takes too long."""
    for request in (signal.SIGINT, signal.SIGQUIT):
        if not server.is_alive():
            return
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(int(_pid_file(server.data)[0]), request)
        deadline = time.monotonic() + STOP_SECONDS
        while _pid_file(server.data) and time.monotonic() < deadline:
            time.sleep(0.02)


def _pid_file(data: Path) -> list[str]:
    """Read postmaster.pid; empty when there is none."""
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _lives(pid: int) -> bool:
    """Say whether a process lives; a zombie (containers without an init keep them) does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except (FileNotFoundError, PermissionError):  # no /proc on this system, or not our process
        return True
    return state not in {"Z", "X"}


def _forget_dead_postmaster(data: Path) -> None:
    """Remove a pid file whose pid is a zombie's or a stranger's: PostgreSQL would believe it.

    Its processes all work in the data directory; while one does, the file is not ours to judge.
    """
    if not _pid_file(data) or sys.platform != "linux":
        return
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").samefile(data) and _lives(int(process.name)):
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
