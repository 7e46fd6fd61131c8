"""Expired claims of every kind, drained by the real sweeper: each ends where it must, none is sent.

How long that takes is printed and never judged here.
"""

from io import StringIO

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db(transaction=True)

PART, ALL = (5_000, 500), (10_000_000, 100_000)


@pytest.mark.parametrize(("rows", "expired"), [PART, pytest.param(*ALL, marks=pytest.mark.slow)])
def test_every_expired_claim_ends_where_it_must(rows: int, expired: int) -> None:
    """The command raises when a row ended elsewhere, or when anything was sent."""
    said = StringIO()
    call_command("bench_sweep", rows=rows, expired=expired, stdout=said)
    print(said.getvalue())  # noqa: T201
    assert f"{expired:,} decided" in said.getvalue()
