"""Random histories of an engine, judged by what truly happened: no run ends that did not.

The daily run plays a part, the same each time; `-m slow` plays all.
"""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from sweeper import reconcile
from sweeper.n8n import client
from tests.support import n8n
from tests.support.factories import Shop
from tests.support.histories import Teller
from tests.support.reconciling import reconciled

pytestmark = pytest.mark.django_db(transaction=True)

PART, ALL = 5_000, 100_000
AT_ONCE, ROUNDS = 500, 5
NEVER = 1e9

BEGIN = """
INSERT INTO runs (id, workflow, external_execution_id, deadline_at, stop_requested_by)
SELECT gen_random_uuid(), 'shop', n::text,
    CASE mod(n, 3) WHEN 0 THEN now() WHEN 1 THEN now() + interval '1 day' END,
    CASE WHEN mod(n, 5) = 0 THEN 'anna' END
FROM generate_series(%s::integer, %s::integer) n
"""
OWN_WORDS = """
SELECT (ledger.complete_run(
    jsonb_build_object('workflow', 'shop', 'run_id', id, 'result', 1))).outcome
FROM runs WHERE status = 'running' AND mod(external_execution_id::integer, 29) = %s
"""
GRACE = """
UPDATE runs SET terminal_first_seen_at = terminal_first_seen_at - interval '1 hour'
WHERE status = 'running' AND mod(external_execution_id::integer, 2) = ANY (%s)
"""
ENDED = """
SELECT external_execution_id, status, engine_status FROM runs
WHERE status <> 'running' AND external_execution_id::integer >= %s
"""


@pytest.fixture
def fast(
    owner_sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[None]:
    """Let nobody wait for the disk or the clock, and let an n8n be known."""
    n8n.register(monkeypatch, settings, default="http://127.0.0.1:9")
    monkeypatch.setattr(reconcile, "TICK_SECONDS", NEVER)
    monkeypatch.setattr(reconcile, "FAILURES_BEFORE_PAUSE", AT_ONCE)
    name = connection.settings_dict["NAME"]
    owner_sql.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    connection.close()
    yield
    owner_sql.execute(f'ALTER DATABASE "{name}" RESET synchronous_commit')
    connection.close()


def judge(shop: Shop, teller: Teller, first: int) -> int:
    """Hold every end against the truth; return how many there are."""
    ended = shop.owner.execute(ENDED, [first]).fetchall()
    for number, status, engine in ended:
        told = (number, status, engine)
        if status == "completed":
            continue  # its own word
        assert status in ("failed_transient", "cancelled"), told
        assert teller.truly_over(number), f"a lie: {told}"
    return len(ended)


def play(shop: Shop, patch: pytest.MonkeyPatch, seed: int, first: int) -> None:
    """Play some histories at once, to their end."""
    teller, last = Teller(seed), first + AT_ONCE - 1
    patch.setattr(client, "request", teller.request)
    shop.owner.execute(BEGIN, [first, last])
    for number in range(first, last + 1):
        teller.begin(number)
    for _ in range(ROUNDS):
        teller.move_on()
        shop.owner.execute(OWN_WORDS, [teller.chance.randrange(29)])
        assert reconciled().failed == 0
        judge(shop, teller, first)
        shop.owner.execute(GRACE, [teller.chance.choice([[0], [1], [0, 1], []])])
    teller.move_on(to_the_end=True)
    for _ in range(2):
        assert reconciled().failed == 0
        shop.owner.execute(GRACE, [[0, 1]])
    assert reconciled().failed == 0
    assert judge(shop, teller, first) == AT_ONCE, "none stays undecided"


@pytest.mark.usefixtures("fast")
def test_no_history_makes_it_lie(store: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of them."""
    for number in range(PART // AT_ONCE):
        play(store, monkeypatch, number, 1 + number * AT_ONCE)


@pytest.mark.usefixtures("fast")
def test_the_judge_would_find_a_lie(store: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a second look after the grace there are some."""
    store.owner.execute("UPDATE policies SET value = '0' WHERE name = 'finished_grace_s'")
    with pytest.raises(AssertionError, match="a lie"):
        play(store, monkeypatch, 0, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("fast")
def test_no_history_at_all_makes_it_lie(store: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them."""
    for number in range(PART // AT_ONCE, ALL // AT_ONCE):
        play(store, monkeypatch, number, 1 + number * AT_ONCE)
