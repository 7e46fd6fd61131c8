"""Six sweepers in processes of their own, direct and through a pooler: never two at once."""

from collections.abc import Iterator

import psycopg
import pytest

from ledger.models import AuditEvent, Conflict, Job
from tests.support.crowd import all_are_there, crowd, direct, never_overlapped, pooled, take_turns
from tests.support.lab import Lab, running_lab

pytestmark = pytest.mark.django_db(transaction=True)

ROWS, TICKS = 60, 40


@pytest.fixture
def lab(owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab."""
    with running_lab(owner_sql) as running:
        yield running


@pytest.fixture(params=["direct", "pooled"])
def address(request: pytest.FixtureRequest, owner_sql: psycopg.Connection) -> Iterator[str]:
    """Give the address of the test database, the server's own or the pooler's."""
    if request.param == "direct":
        yield direct(owner_sql)
        return
    with pooled(owner_sql) as through:
        yield through


def test_six_sweepers_never_overlap(lab: Lab, address: str) -> None:
    """Every hold of the lock ends before the next begins, and every row is decided once."""
    claims = [lab.claim("hook", number) for number in range(ROWS)]
    for claim in claims:
        lab.mark(claim)
    with crowd("sweep", 0.02, {"DATABASE_URL": address}):
        all_are_there("sweep")
        lab.expire(*claims)
        take_turns("sweep", TICKS)
    never_overlapped("sweep")
    decided = AuditEvent.objects.filter(op="decide_job", outcome="won").values_list("job_id")
    assert len(decided) == len(set(decided)) == ROWS
    assert Job.objects.filter(state="review").count() == ROWS
    assert Conflict.objects.filter(kind="unknown_send", state="open").count() == ROWS
