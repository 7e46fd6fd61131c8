"""The console's measurement, small: its questions do not grow with what is there."""

import pytest

from review.bench import STOCK, p11

pytestmark = pytest.mark.django_db(transaction=True)


def test_no_page_needs_a_query_more_beside_many() -> None:
    """Times are printed by the command and never judged here."""
    goals = p11(rows=10_000, rounds=1, few_rows=5_000, calls=2)
    assert len(goals) == 2 * len(STOCK) + 3
    assert goals[-1].what == "queries a page needs more beside many"
    assert goals[-1].value == 0, goals[-1]
