"""The django-q2 worker under each of the faults its wrapper is there for."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.installation import Installation
from tests.support.processes import PATIENCE, children, is_alive, living, manage, wait_until

STOPS_WITHIN = 5
QUEUE_DEAD, SENTINEL_DEAD = 70, 71
LIMIT = 3
DUE = "UPDATE django_q_schedule SET next_run = now() WHERE name = 'landed.sweep'"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a migrated installation of its own."""
    path = tmp_path_factory.mktemp("landed")
    migrating = manage(path, "migrate")
    output, _ = migrating.communicate(timeout=120)
    assert migrating.returncode == 0, output
    return path


@pytest.fixture
def worker(directory: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """Run the worker, mostly impatient, until its sentinel has a worker, a monitor and a pusher."""
    limit = str(getattr(request, "param", LIMIT))
    process = manage(directory, "worker", "--beat", "0.2", "--limit", limit)
    try:
        wait_until(lambda: len(_cluster(process.pid)) == 4, "the cluster is complete")
        yield process
    finally:
        process.kill()
        process.communicate()
        wait_until(lambda: not living(directory), "no process of the worker is left")


def _cluster(main: int) -> list[int]:
    """List the sentinel and its three children, in the order they were started."""
    sentinels = children(main, "manage.py worker")
    return sentinels + [child for pid in sentinels for child in children(pid, "manage.py worker")]


def _ended(process: subprocess.Popen[str]) -> int:
    """Wait for the end and for the last of its children; return the status."""
    cluster = _cluster(process.pid)
    status = process.wait(timeout=PATIENCE)
    wait_until(lambda: not any(map(is_alive, cluster)), "none of its children is left")
    print(process.communicate()[0])  # noqa: T201  # shown when the test fails
    return status


def test_request_to_stop_is_followed_soon(worker: subprocess.Popen[str]) -> None:
    """SIGTERM to the main process ends all of it."""
    began = time.monotonic()
    worker.terminate()
    assert _ended(worker) == 0
    assert time.monotonic() - began < STOPS_WITHIN


def test_request_to_the_whole_group_does_not_hang(worker: subprocess.Popen[str]) -> None:
    """A SIGTERM that reaches every process (systemd, timeout) ends the main process too."""
    began = time.monotonic()
    for pid in [worker.pid, *_cluster(worker.pid)]:
        os.kill(pid, signal.SIGTERM)
    _ended(worker)
    assert time.monotonic() - began < STOPS_WITHIN


def test_killed_main_process_takes_its_children_along(
    worker: subprocess.Popen[str], directory: Path
) -> None:
    """Orphans would go on executing tasks beside the next worker."""
    worker.kill()
    worker.wait()
    wait_until(lambda: not living(directory), "no process of the worker is left")


def test_killed_sentinel_ends_the_worker(worker: subprocess.Popen[str]) -> None:
    """The main process says so by its status, for whoever starts it again."""
    os.kill(_cluster(worker.pid)[0], signal.SIGKILL)
    assert _ended(worker) == SENTINEL_DEAD


def test_worker_killed_while_idle_ends_the_worker(worker: subprocess.Popen[str]) -> None:
    """It dies with the queue's lock: nothing would ever be done again, and nobody would know."""
    first = _cluster(worker.pid)
    victims = [first[1]]
    while victims:  # one killed between two tasks has no lock and is replaced: kill that one too
        os.kill(victims[0], signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(timeout=2 * LIMIT)
        victims = [pid for pid in _cluster(worker.pid) if pid not in first]
    assert _ended(worker) == QUEUE_DEAD


@pytest.mark.parametrize("worker", [PATIENCE], indirect=True)
def test_a_poisoned_schedule_row_stops_nothing(
    worker: subprocess.Popen[str], directory: Path
) -> None:
    """One row that nobody can read would stop every schedule; it is put right at the next beat."""
    installation = Installation.found(directory)
    with installation.connect() as owner:
        # What a worker killed before this one left: nobody waits here until its lease has ended.
        owner.execute("UPDATE sweep_locks SET lease_expires_at = now() WHERE token IS NOT NULL")
        owner.execute(DUE)
        wait_until(lambda: _sweeps(owner) > 0, "the first sweep ended well")
        owner.execute(
            "UPDATE django_q_schedule SET args = '__import__(''os'')', cron = 'never',"
            " schedule_type = 'C', next_run = now() - interval '1 second'"
            " WHERE name = 'landed.seal'"
        )
        owner.execute(
            "INSERT INTO django_q_schedule (func, schedule_type, repeats, args, next_run)"
            " VALUES ('os.system', 'I', -1, '(', now() - interval '1 second')"
        )
        before = _sweeps(owner)
        owner.execute(DUE)
        wait_until(lambda: _sweeps(owner) > before, "the sweep went on")
        strange = "SELECT 1 FROM django_q_schedule WHERE func = 'os.system'"
        assert owner.execute(strange).fetchall() == []


def _sweeps(owner: psycopg.Connection) -> int:
    """Count the sweeps that ended well."""
    released = (
        "SELECT count(*) FROM audit_events WHERE op = 'release_sweep_lock' AND outcome = 'won'"
        " AND key = 'tick:sweep'"
    )
    (row,) = owner.execute(released).fetchall()
    return int(row[0])


def test_a_pool_is_refused(directory: Path) -> None:
    """The worker forks: with a pool one process would read another one's rows."""
    process = manage(directory, "worker", DATABASE_URL="postgresql://x@127.0.0.1:1/x?pool=1")
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 1
    assert "switch the database option `pool` off" in said
