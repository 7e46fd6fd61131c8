"""The private PostgreSQL: shared, stopped after its last user, back after a kill; and its roles."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, living, manage, python, wait_until

USE = """
import sys
from ledger import embedded, pgdata
server = embedded.ensure()
print(server.port, (server.data / "postmaster.pid").read_text().split()[0], flush=True)
sys.stdin.readline()
"""


class User:
    """A process that uses the private server until it is told to end."""

    def __init__(self, directory: Path) -> None:
        """Start it."""
        self._process = python(directory, "-c", USE)

    def server(self) -> list[str]:
        """Wait for the server; return its port and its pid."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()

    def end(self) -> None:
        """Let it end by itself."""
        self._process.communicate("\n", timeout=PATIENCE)

    def kill(self) -> None:
        """Take it away without a word."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Give a directory of one installation, empty of processes afterwards."""
    yield tmp_path
    for pid in living(tmp_path):
        os.kill(pid, signal.SIGKILL)


def test_first_users_share_one_server_and_the_last_one_stops_it(directory: Path) -> None:
    """Cold starts in parallel make one server; it stays for the last user only."""
    users = [User(directory) for _ in range(4)]
    servers = [user.server() for user in users]
    assert len(servers[0]) == 2
    assert servers == [servers[0]] * 4
    for user in users[1:]:
        user.end()
    assert living(directory).get(int(servers[0][1])), "the server must live while it is used"
    users[0].end()
    wait_until(lambda: not living(directory), "nothing of the private server is left")


def test_server_goes_with_a_killed_last_user(directory: Path) -> None:
    """A user that dies without a word does not leave the server behind."""
    user = User(directory)
    assert user.server()
    user.kill()
    wait_until(lambda: not living(directory), "nothing of the private server is left")


def test_killed_server_comes_back_at_the_same_address(directory: Path) -> None:
    """After kill -9 of the postmaster the next process brings the server back, remains or not."""
    first = User(directory)
    port, pid = first.server()
    os.kill(int(pid), signal.SIGKILL)
    second = User(directory)
    port_again, pid_again = second.server()
    assert port_again == port
    assert pid_again != pid
    first.end()
    second.end()


def test_pid_file_of_a_stranger_does_not_stop_the_start(directory: Path) -> None:
    """After a crash of the machine the old pid may be anybody's."""
    user = User(directory)
    assert user.server()
    user.end()
    wait_until(lambda: not living(directory), "nothing of the private server is left")
    [data] = (directory / "pg").glob("data*")
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n0\n1\n\n127.0.0.1\n\nready\n")
    user = User(directory)
    assert user.server()
    user.end()


def test_roles_and_tables_can_be_made_twice_at_once(directory: Path) -> None:
    """Several programs that start together make the roles and migrate without a fault."""
    commands = ["ensure_roles", "ensure_roles", "migrate", "migrate"]
    running = [manage(directory, command) for command in commands]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0], "\n".join(outputs)
    assert "CREATE ROLE" not in outputs[0]
