"""Six reconcilers in processes of their own, direct and through a pooler: never two at once."""

from collections.abc import Iterator, Mapping

import psycopg
import pytest

from ledger.models import AuditEvent, Run
from tests.support.crowd import all_are_there, crowd, direct, never_overlapped, pooled, take_turns
from tests.support.factories import Shop
from tests.support.n8n import KEY, FakeN8n, serving
from tests.support.runs import running

pytestmark = pytest.mark.django_db(transaction=True)

RUNS, TICKS = 12, 20
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s"


@pytest.fixture
def fake() -> Iterator[FakeN8n]:
    """Serve an n8n that takes its time, so that two who ask at once would be seen."""
    with serving() as server:
        server.pause = 0.005
        yield server


@pytest.fixture(params=["direct", "pooled", "pooled, with the direct address"])
def addresses(
    request: pytest.FixtureRequest, owner_sql: psycopg.Connection
) -> Iterator[Mapping[str, str]]:
    """Give the addresses of the test database in each way they can be set."""
    here = {"DATABASE_DIRECT_URL": direct(owner_sql)}
    if request.param == "direct":
        yield here | {"DATABASE_URL": direct(owner_sql)}
        return
    with pooled(owner_sql) as through:
        yield {"DATABASE_URL": through} | (here if "direct" in request.param else {})


def test_six_reconcilers_never_overlap(
    store: Shop, fake: FakeN8n, addresses: Mapping[str, str]
) -> None:
    """By the audit and as n8n sees it; each run ends once, each late one is stopped once."""
    store.owner.execute("UPDATE policies SET value = '0' WHERE name = 'finished_grace_s'")
    for number in range(1, RUNS + 1):
        running(store, external_execution_id=str(number))
        fake.engine.add(number)
    n8n = {
        "LANDED_N8N": f"default={fake.url}",
        "LANDED_SECRET_N8N_DEFAULT": KEY,
        "LANDED_PRIVATE_HOSTS": "127.0.0.1",
    }
    with crowd("reconcile", 0.1, {**addresses, **n8n}):
        all_are_there("reconciler")
        store.owner.execute("UPDATE runs SET deadline_at = now()")
        take_turns("reconciler", TICKS)
    never_overlapped("reconciler")
    assert fake.most_at_once == 1
    stops = [fake.engine.count(f"POST {number}/stop") for number in range(1, RUNS + 1)]
    assert stops == [1] * RUNS
    ends = AuditEvent.objects.filter(op="reconcile_run", outcome="won", reason="terminated")
    assert ends.count() == RUNS
    assert Run.objects.filter(status="failed_transient").count() == RUNS
    assert store.owner.execute(LOCKS, [0x4C52_4543]).fetchone() == (0,)
