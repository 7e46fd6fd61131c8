"""Six sweepers in processes of their own, direct and through a pooler: never two at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from django.conf import settings

from ledger.models import AuditEvent, Conflict, Job, SweepLock
from tests.support import pgbouncer
from tests.support.lab import Lab, running_lab
from tests.support.processes import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SWEEPERS, ROWS, TICKS = 6, 60, 40


@pytest.fixture
def lab(owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab."""
    with running_lab(owner_sql) as running:
        yield running


@pytest.fixture(params=["direct", "pooled"])
def address(request: pytest.FixtureRequest, owner_sql: psycopg.Connection) -> Iterator[str]:
    """Give the address of the test database, the server's own or the pooler's."""
    app, where = settings.DB_APP, owner_sql.info
    if request.param == "direct":
        login = f"{app['USER']}:{app['PASSWORD']}"
        yield f"postgresql://{login}@{where.host}:{where.port}/{where.dbname}"
        return
    with pgbouncer.running({"app": app}) as pooler:
        yield f"postgresql://app@{pooler.address}/{pgbouncer.route(where.dbname, 'app')}"


@contextmanager
def sweepers(address: str) -> Iterator[list["subprocess.Popen[str]"]]:
    """Run six of them, as fast as they can."""
    command = [sys.executable, "manage.py", "sweep", "--loop", "--interval", "0.02"]
    environment = os.environ | {"DATABASE_URL": address}
    with ExitStack() as stack:
        processes = [
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(SWEEPERS)
        ]
        for process in processes:
            stack.callback(process.communicate)
            stack.callback(process.kill)
        yield processes
        for process in processes:
            process.terminate()
        for process in processes:
            assert process.communicate(timeout=PATIENCE)[1] == ""


def test_six_sweepers_never_overlap(lab: Lab, address: str) -> None:
    """Every hold of the lock ends before the next begins, and every row is decided once."""
    claims = [lab.claim("hook", number) for number in range(ROWS)]
    for claim in claims:
        lab.mark(claim)
    with sweepers(address):
        wait_until(lambda: SweepLock.objects.filter(fence__gte=SWEEPERS).exists(), "all are there")
        lab.expire(*claims)
        fence = SweepLock.objects.get(name="sweep").fence
        wait_until(
            lambda: SweepLock.objects.filter(fence__gte=fence + TICKS).exists(), "they took turns"
        )
    holds = list(
        AuditEvent.objects.filter(
            key="tick:sweep", op__in=("take_sweep_lock", "release_sweep_lock"), outcome="won"
        )
        .order_by("id")
        .values_list("op", "actor")
    )
    assert len({actor for _, actor in holds}) > 1
    for (taken, holder), (released, by) in zip(holds[::2], holds[1::2], strict=False):
        assert (taken, released) == ("take_sweep_lock", "release_sweep_lock")
        assert holder == by
    decided = AuditEvent.objects.filter(op="decide_job", outcome="won").values_list("job_id")
    assert len(decided) == len(set(decided)) == ROWS
    assert Job.objects.filter(state="review").count() == ROWS
    assert Conflict.objects.filter(kind="unknown_send", state="open").count() == ROWS
