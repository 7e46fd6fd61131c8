"""Runs of a real n8n that end in every way there is: the reconciler tells none of them wrong.

What happens to runs is the table of docs/state_machine.md, what is left of their jobs the kill
matrix. Time passes by hand where it is the ledger's, and by itself where it is n8n's.
"""

import itertools
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ledger import roles
from sweeper.n8n.engine.setup import postgres
from sweeper.transport import request as call
from tests.support import workflows
from tests.support.engine import LOOPBACK, Gate, RealN8n, until
from tests.support.lab import KINDS, Lab, running_lab
from tests.support.real_runs import Begun, closing, hold, opening, send
from tests.support.reconciling import reconciled
from tests.support.sweeps import swept
from tests.support.workflows import Node

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab(n8n: RealN8n, owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Open the crash lab with the real n8n as its worker."""
    with running_lab(owner_sql) as running:
        yield running


@pytest.fixture
def begin(n8n: RealN8n, lab: Lab, request: pytest.FixtureRequest) -> Any:
    """Install a workflow under the test's name and begin runs of it."""
    numbers = itertools.count(1)

    def install(*nodes: Node, **settings: Any) -> Any:
        path = f"{request.node.name.removeprefix('test_')[:40]}-{next(numbers)}"
        n8n.deploy(workflows.chain(path, *nodes, **settings))
        return lambda effect="hook": Begun(n8n, lab, path, effect)

    return install


def test_kill_n8n_between_effect_and_complete(
    n8n: RealN8n, lab: Lab, gate: Gate, begin: Any
) -> None:
    """Out of reach, then crashed: the runs end after the grace, the jobs by what providers say."""
    of = begin(*opening(), send(lab), hold(gate), *closing())
    runs = {effect: of(effect) for effect in KINDS}
    for run in runs.values():
        gate.wait_for(str(run.id))
    n8n.running.engine.kill()
    assert reconciled().engine_errors == len(runs)
    assert {run.stands[:2] for run in runs.values()} == {("running", False)}
    n8n.running.engine.start()
    for run in runs.values():
        n8n.until(run.execution, "crashed")
    assert reconciled().terminated == 0  # its stop time lies before the kill; only the look counts
    assert {run.stands for run in runs.values()} == {("running", False, "crashed")}
    claims = {effect: run.claim for effect, run in runs.items()}
    for run in runs.values():
        run.pass_grace()
    assert reconciled().terminated == len(runs)
    assert {run.stands for run in runs.values()} == {("failed_transient", False, "crashed")}
    for effect, claim in claims.items():
        assert lab.job(claim).state == "claimed"  # a run that ended decides about no job
        lab.set_provider(effect, settle_seconds=0)
    for _ in range(3):
        lab.expire(*claims.values())
        swept()
        lab.work_off()
    ends = {effect: (lab.effects(claim), lab.job(claim).state) for effect, claim in claims.items()}
    assert ends == {"charge": (1, "done"), "mail": (1, "done"), "hook": (1, "review")}


@pytest.fixture
def table(n8n: RealN8n, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection]:
    """Make a table in n8n's database the provider of mails: workflows insert, the sweep asks."""
    login = n8n.running.engine.place.database
    monkeypatch.setenv("LANDED_SECRET_TABLE", login["PASSWORD"])
    asked = {"database": login["NAME"], "user": login["USER"], "table": "public.sent"}
    where = {"host": login["HOST"], "port": int(login["PORT"]), "security": "none"}
    secret = {"key_column": "key", "password_env": "LANDED_SECRET_TABLE", "allow_private": LOOPBACK}
    config = Jsonb(asked | where | secret)
    lab.set_provider("mail", lookup_adapter="postgres_row", lookup_config=config)
    n8n.running.owner.keep_credential("Table", "postgres", postgres(login))
    with roles.connect(login) as session:
        session.execute("CREATE TABLE sent (key text PRIMARY KEY)")
        yield session


def test_stop_while_an_insert_is_in_flight(lab: Lab, table: psycopg.Connection, begin: Any) -> None:
    """n8n says canceled at once and the effect comes later: the settle window waits for it."""
    table.execute("SELECT pg_advisory_lock(7)")
    query = "INSERT INTO sent SELECT $1 FROM (SELECT pg_advisory_xact_lock(7)) AS turn"
    insert = workflows.sql("Insert", query, "$('Mark').item.json.provider_key")
    insert["credentials"] = {"postgres": {"name": "Table"}}
    run = begin(*opening(), insert, *closing())("mail")
    waits = "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    until(lambda: one(table, waits), "1")
    run.pass_deadline()
    assert reconciled().stopped == 1
    assert run.stands == ("running", False, "canceled")
    run.pass_grace()
    assert reconciled().terminated == 1
    assert run.stands == ("failed_transient", False, "canceled")
    claim = run.claim
    lab.expire(claim)
    assert swept().waiting == 1
    assert lab.job(claim).state == "sweeping"  # not found, and nothing is decided by that
    assert one(table, "SELECT count(*)::text FROM sent") == "0"
    table.execute("SELECT pg_advisory_unlock(7)")
    until(lambda: one(table, "SELECT count(*)::text FROM sent"), "1")
    lab.expire(claim)
    swept()
    assert lab.job(claim).state == "done"
    assert one(table, "SELECT count(*)::text FROM sent") == "1"


def one(session: psycopg.Connection, query: str) -> str:
    """Return the one value of a query."""
    row = session.execute(query.encode()).fetchone()
    assert row is not None
    return str(row[0])


def test_a_timeout_an_error_and_what_is_not_kept(
    n8n: RealN8n, lab: Lab, gate: Gate, begin: Any
) -> None:
    """Canceled and failed end after the grace; a 404 is no end and waits for a person."""
    late = begin(*opening(), hold(gate), *closing(), executionTimeout=1)()
    failed = begin(*opening(), workflows.stop_and_error())()
    lost = begin(*opening(), saveDataSuccessExecution="none")()
    n8n.until(late.execution, "canceled")
    n8n.until(failed.execution, "error")
    n8n.until(lost.execution, "404")
    reconciled()
    assert late.stands == ("running", False, "canceled")
    assert failed.stands == ("running", False, "error")
    assert lost.stands == ("running", True, "not_found")
    late.pass_grace()
    failed.pass_grace()
    assert reconciled().terminated == 2
    assert late.stands == ("failed_transient", False, "canceled")
    assert failed.stands == ("failed_transient", False, "error")
    assert lost.stands == ("running", True, "not_found")
    assert {lab.job(run.claim).state for run in (late, failed, lost)} == {"claimed"}


def test_a_key_that_is_not_taken(
    n8n: RealN8n, lab: Lab, begin: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can say anything of the run, and it stays."""
    run = begin(*opening(), workflows.stop_and_error())()
    n8n.until(run.execution, "error")
    settings.LANDED_N8N = [f"default={n8n.url}"]
    settings.LANDED_PRIVATE_HOSTS = LOOPBACK
    monkeypatch.setenv("LANDED_SECRET_N8N_DEFAULT", "no-such-key")
    report = reconciled()
    assert report.engine_errors == 1
    assert "(401)" in report.unreachable["default"]
    assert run.stands[:2] == ("running", False)
    settings.LANDED_N8N = []
    reconciled()
    assert run.stands == ("running", False, "error")


def test_a_pause_is_no_end(n8n: RealN8n, lab: Lab, gate: Gate, begin: Any) -> None:
    """It has a stop time, and keeps it when it goes on; late, it is a person's and not stopped."""
    run = begin(*opening(), workflows.pause_for_call(), hold(gate), send(lab), *closing())()
    n8n.until(run.execution, "waiting")
    run.pass_deadline()
    assert (reconciled().stopped, run.stands) == (0, ("running", True, "waiting"))
    run.move("deadline_at = NULL")
    assert call("GET", run.resume, allow_private=LOOPBACK).status == 200
    gate.wait_for(str(run.id))
    reconciled()
    assert run.stands == ("running", False, "running")
    assert run.row.terminal_first_seen_at is None
    gate.opened.set()
    n8n.until(run.execution, "success")
    until(lambda: run.stands[0], "completed")
    assert reconciled().confirmed == 1
    assert run.row.engine_confirmed_at is not None
    assert (lab.effects(run.claim), lab.job(run.claim).state) == (1, "done")


@pytest.mark.slow
def test_a_wait_of_seventy_seconds_outlives_a_kill(n8n: RealN8n, lab: Lab, begin: Any) -> None:
    """It is put away and says waiting, goes on by itself after the kill, and completes."""
    run = begin(*opening(), workflows.pause(70), send(lab), *closing())()
    n8n.until(run.execution, "waiting")
    reconciled()
    assert run.stands == ("running", False, "waiting")
    n8n.running.engine.kill()
    n8n.running.engine.start()
    patience = time.monotonic() + 180
    while run.stands[0] != "completed":
        assert time.monotonic() < patience
        assert reconciled().terminated == 0
        time.sleep(1)
    assert (lab.effects(run.claim), lab.job(run.claim).state) == (1, "done")


@pytest.mark.slow
def test_an_n8n_that_is_stopped_with_work_under_way(
    n8n: RealN8n, lab: Lab, gate: Gate, begin: Any
) -> None:
    """What outlasts its patience is crashed at the next start; the effect is looked up."""
    run = begin(*opening(), send(lab), hold(gate), *closing())("mail")
    gate.wait_for(str(run.id))
    n8n.running.engine.stop()
    n8n.running.engine.start()
    n8n.until(run.execution, "crashed")
    claim = run.claim
    reconciled()
    run.pass_grace()
    assert reconciled().terminated == 1
    lab.set_provider("mail", settle_seconds=0)
    lab.expire(claim)
    swept()
    assert (lab.effects(claim), lab.job(claim).state) == (1, "done")
