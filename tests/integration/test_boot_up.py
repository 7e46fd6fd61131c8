"""`manage.py up`: one command starts everything, one Ctrl-C stops everything."""

import os
import re
import signal
import socket
import stat
import urllib.request
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from review.preparation import steps
from tests.support.processes import (
    OPEN,
    PATIENCE,
    free_port,
    living,
    manage,
    stop,
    up,
    wait_until,
)

FIRST, LATER = 60, 5
"""Seconds to a page at the first start and at a later one, on a machine with nothing else to do."""
BUSY = 6
"""How much longer it may take beside other tests."""
PASSWORD = r"log in as admin with the password (\S+)"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one installation for the whole file, so that later tests find it already prepared."""
    return tmp_path_factory.mktemp("landed")


@pytest.fixture(scope="module")
def password(directory: Path) -> str:
    """Start it for the first time, see a page, stop it with Ctrl-C."""
    with up(directory, "--no-demo", "--port", free_port()) as running:
        word = running.read_until(PASSWORD)[1]
        seconds, address = running.read_until(OPEN).groups()
        print(f"the first page after {seconds} s")  # noqa: T201 - for who looks at a failure
        assert float(seconds) < FIRST * BUSY
        with urllib.request.urlopen(address, timeout=PATIENCE) as page:
            assert page.status == 200
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        stop(running, directory)
    return word


def test_password_is_kept_where_only_its_owner_reads_it(directory: Path, password: str) -> None:
    """The administrator's password is random and in a private file."""
    kept = directory / "admin-password"
    assert kept.read_text() == password
    assert len(password) >= 16
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("request_to_stop", [signal.SIGTERM, signal.SIGHUP])
def test_second_start_keeps_everything_and_stops_on_any_request(
    directory: Path, password: str, request_to_stop: signal.Signals
) -> None:
    """Starting again makes no second administrator, loses no row, says where the password is."""
    with up(directory, "--no-demo", "--port", free_port()) as running:
        seconds = running.read_until(OPEN)[1]
        print(f"the first page of a later start after {seconds} s")  # noqa: T201 - as above
        assert float(seconds) < LATER * BUSY
        assert password not in running.output
        kept = directory / "admin-password"
        assert f"log in as admin; the password is in {kept}\n" in running.output
        stop(running, directory, request_to_stop)


@pytest.mark.django_db
def test_a_password_that_does_not_hold_any_more_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named only while what it holds lets somebody in."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))
    kept = tmp_path / "admin-password"
    (administrator,) = (step for step in steps(demo=False) if step.title == "administrator")
    assert re.search(PASSWORD, administrator.run())
    assert administrator.run() == f"log in as admin; the password is in {kept}"
    admin = User.objects.get(username="admin")
    admin.set_password("another one")
    admin.save()
    assert administrator.run() == ""
    kept.unlink()
    assert administrator.run() == ""


def test_killed_supervisor_leaves_nothing(directory: Path, password: str) -> None:
    """After kill -9 all children end, the private server with them."""
    with up(directory, "--no-demo", "--port", free_port()) as running:
        running.read_until(OPEN)
        running.process.kill()
        wait_until(lambda: not living(directory), "every process of the directory has ended")


def test_second_up_says_that_one_is_running(directory: Path, password: str) -> None:
    """Two in one directory would fight over everything."""
    port = free_port()
    with up(directory, "--no-demo", "--port", port) as running:
        running.read_until(OPEN)
        second = manage(directory, "up", "--port", free_port())
        said = second.communicate(timeout=PATIENCE)[0]
        assert second.returncode == 1
        assert f"already running from {directory}: http://127.0.0.1:{port}" in said
        stop(running, directory)


def test_taken_port_is_said_before_anything_is_done(directory: Path, password: str) -> None:
    """The message names the port and another one to try."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = manage(directory, "up", "--port", str(port))
        said = refused.communicate(timeout=PATIENCE)[0]
    assert refused.returncode == 1
    assert f"Port {port} is not free" in said
    assert f"--port {port + 1}" in said


@pytest.mark.parametrize("port", ["0", "99999", "http"])
def test_what_is_no_port_is_said(directory: Path, port: str) -> None:
    """In a sentence, before anything is done."""
    refused = manage(directory, "up", "--port", port)
    said = refused.communicate(timeout=PATIENCE)[0]
    assert refused.returncode == 2
    assert f"{port} is no port; give one from 1024 to 65535" in said


def test_killed_children_and_postgres_come_back(directory: Path, password: str) -> None:
    """Each process that dies is started again, the private server included."""
    with up(directory, "--no-demo", "--port", free_port()) as running:
        page = running.read_until(OPEN)[2]
        web = _one(directory, "granian")
        os.kill(web, signal.SIGKILL)
        running.read_until("web ended .SIGKILL.; starting it again")
        os.kill(_one(directory, "postgres -D"), signal.SIGKILL)
        running.read_until("the private PostgreSQL died; starting it again")
        wait_until(lambda: _answers(page), "the page is served again")
        stop(running, directory)


def _one(directory: Path, words: str) -> int:
    """Find the oldest process with these words in its command line."""
    return min(pid for pid, command in living(directory).items() if words in command)


def _answers(page: str) -> bool:
    """Say whether the page is served."""
    try:
        with urllib.request.urlopen(page, timeout=PATIENCE) as response:
            return bool(response.status == 200)
    except OSError:
        return False
