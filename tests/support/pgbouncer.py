"""A real PgBouncer in transaction mode before the test database, for races through a pooler.

It has fewer connections to the server than a race has racers, so that transactions of one client
really run in sessions of others. It runs on loopback and never as root.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections

from ledger import roles
from tests.support.database import database

HOST = "127.0.0.1"
SERVER_CONNECTIONS = 5
UNPRIVILEGED = "nobody"
DEBIAN_SBIN = "/usr/sbin"

CONFIG = """
[databases]
{routes}

[pgbouncer]
listen_addr = {host}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
"""


def program() -> str:
    """Return the path of pgbouncer, or skip the test; CI must have it."""
    path = os.pathsep.join([os.environ.get("PATH", ""), DEBIAN_SBIN])
    found = shutil.which("pgbouncer", path=path)
    if found is None:
        missing = "pgbouncer is not installed, so no race was run through a pooler"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


class Pooler:
    """A running PgBouncer as the doors use it."""

    def __init__(self, port: int) -> None:
        """Remember where it listens."""
        self._place = {"HOST": HOST, "PORT": str(port)}
        self._open: list[psycopg.Connection] = []

    @property
    def address(self) -> str:
        """Return host:port."""
        return f"{self._place['HOST']}:{self._place['PORT']}"

    def connect(self, role: str = "app") -> psycopg.Connection:
        """Connect as app, n8n or articles; the pooler knows the passwords."""
        login = {**self._place, "USER": role, "PASSWORD": "", "OPTIONS": {}}
        self._open.append(roles.connect(login, route(database(), role)))
        return self._open[-1]

    @contextmanager
    def for_django(self) -> Iterator[None]:
        """Lead Django's connections through the pooler."""
        connection = connections["default"]
        direct = {name: connection.settings_dict[name] for name in self._place}
        connection.close()
        connection.settings_dict.update(self._place)
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict.update(direct)

    def hang_up(self) -> None:
        """Close what was opened."""
        while self._open:
            self._open.pop().close()


@contextmanager
def running(logins: Mapping[str, Mapping[str, Any]]) -> Iterator[Pooler]:
    """Run a pooler before the test database for these roles, for as long as the block."""
    path, port = program(), _free_port()
    with tempfile.TemporaryDirectory(prefix="landed-pgbouncer-") as directory:
        config = Path(directory) / "pgbouncer.ini"
        lines = [f"{route(database(), role)} = {_target(logins[role])}" for role in logins]
        config.write_text(
            CONFIG.format(routes="\n".join(lines), host=HOST, port=port, size=SERVER_CONNECTIONS)
        )
        config.chmod(0o600)
        user = UNPRIVILEGED if os.getuid() == 0 else None
        if user:
            owner = pwd.getpwnam(user)
            for each in (Path(directory), config):
                os.chown(each, owner.pw_uid, owner.pw_gid)
        log = Path(directory) / "log"  # not a pipe: one that nobody reads would stop the pooler
        with log.open("w") as said:
            process = subprocess.Popen([path, str(config)], stderr=said, user=user)
        try:
            _wait_until_ready(process, port, log)
            yield Pooler(port)
        finally:
            process.kill()
            process.wait()


def route(name: str, role: str) -> str:
    """Return how the pooler calls the test database for a role; for app by its own name."""
    return name if role == "app" else f"{name}_{role}"


def _target(login: Mapping[str, Any]) -> str:
    """Write one login as PgBouncer reads it."""
    members = {
        "host": login["HOST"],
        "port": login["PORT"] or "5432",
        "dbname": database(),
        "user": login["USER"],
        "password": login["PASSWORD"],
    }
    return " ".join(f"{name}='{str(value).replace("'", "''")}'" for name, value in members.items())


def _free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Try the port until somebody answers, or the pooler has ended."""
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"pgbouncer did not start:\n{log.read_text()}")
