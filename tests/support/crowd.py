"""Several processes of one ticking command at once, and the proof that no two ticks met."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import psycopg
from django.conf import settings

from ledger.models import AuditEvent, SweepLock
from tests.support import pgbouncer
from tests.support.processes import PATIENCE, wait_until

CROWD = 6


def direct(owner: psycopg.Connection) -> str:
    """Return the runtime role's address of the test database itself."""
    app, where = settings.DB_APP, owner.info
    login = f"{app['USER']}:{app['PASSWORD']}"
    return f"postgresql://{login}@{where.host}:{where.port}/{where.dbname}"


@contextmanager
def pooled(owner: psycopg.Connection) -> Iterator[str]:
    """Give its address through a pooler in transaction mode."""
    with pgbouncer.running({"app": settings.DB_APP}) as pooler:
        yield f"postgresql://app@{pooler.address}/{pgbouncer.route(owner.info.dbname, 'app')}"


@contextmanager
def crowd(command: str, interval: float, environment: Mapping[str, str]) -> Iterator[None]:
    """Run six of them, with hardly a pause; none has anything to complain of."""
    words = [sys.executable, "manage.py", command, "--loop", "--interval", str(interval)]
    with ExitStack() as stack:
        processes = [
            subprocess.Popen(
                words,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(CROWD)
        ]
        for process in processes:
            stack.callback(process.communicate)
            stack.callback(process.kill)
        yield
        for process in processes:
            process.terminate()
        for process in processes:
            assert process.communicate(timeout=PATIENCE)[1] == ""


def all_are_there(tick: str) -> None:
    """Wait until there were as many ticks as there are processes."""
    held = SweepLock.objects.filter(name=tick, fence__gte=CROWD)
    wait_until(held.exists, "all are there")


def take_turns(tick: str, ticks: int) -> None:
    """Wait for that many ticks more."""
    fence = SweepLock.objects.get(name=tick).fence
    later = SweepLock.objects.filter(name=tick, fence__gte=fence + ticks)
    wait_until(later.exists, "they took turns")


def never_overlapped(tick: str) -> None:
    """Hold the audit against it: each hold of the lock ended before the next began."""
    locks = ("take_sweep_lock", "release_sweep_lock")
    events = AuditEvent.objects.filter(key=f"tick:{tick}", op__in=locks, outcome="won")
    holds = list(events.order_by("id").values_list("op", "actor"))
    assert len({actor for _, actor in holds}) > 1
    for (taken, holder), (released, by) in zip(holds[::2], holds[1::2], strict=False):
        assert (taken, released) == locks
        assert holder == by
