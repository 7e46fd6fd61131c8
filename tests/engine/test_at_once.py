"""The same event many times at once, in a real n8n: what sends once, and what does not.

Every shipped workflow that sends is installed as it is shipped; those that begin by a schedule are
begun by hand many times at once, as when two of them fire together. Beside them runs the gate of
the articles, which is why the shipped ones branch on an outcome.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.conf import settings

from ledger import guests
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from sweeper.n8n import templates
from sweeper.n8n.engine.setup import postgres
from tests.support import workflows
from tests.support.database import database
from tests.support.engine import RealN8n
from tests.support.shipped import Shipped, decided

pytestmark = pytest.mark.django_db(transaction=True)

DELIVERIES = 8
ORDER = {"id": "evt-1", "order": 7}
DELIVERED: dict[str, Any] = {
    "guarded-webhook-http": ORDER,
    "guarded-webhook-sql": ORDER,
    "many-items": {"orders": [{"id": "evt-1"}, {"id": "evt-2"}]},
    "receive-decision": None,  # made by a person's decision
    "worker-loop-http": ORDER,
    "worker-loop-sql": ORDER,
}
BEGUN = {
    "worker-loop-http": "Every minute",
    "worker-loop-sql": "Every minute",
    "daily-report": "Every morning",
    "batch-cursor": "Every night",
}
"""What is delivered to each, and the schedule of those that have one."""

TABLE = """
DROP TABLE IF EXISTS public.customers CASCADE;
CREATE TABLE public.customers (id bigint PRIMARY KEY, email text, name text);
INSERT INTO public.customers SELECT n, 'c@example.com', 'C, ' || n FROM generate_series(1, 3) n
"""
"""What the batch goes through."""

SENT = {
    "order_notice": 1,
    "order_notice_sql": 1,
    "many_orders": 2,
    "decided_change": 1,
    "order_letter": 1,
    "order_letter_sql": 1,
    "daily_report": 1,
    "batch_notice": 3,
}
"""How many keys each effect is sent under."""


def test_every_shipped_workflow_sends_once(here: Shipped, owner_sql: psycopg.Connection) -> None:
    """However many deliveries of one event there are at the same moment."""
    sending = {name for name in templates.names() if "/hook" in here.text(name)}
    assert sending == DELIVERED.keys() | BEGUN.keys()
    theirs = postgres({**settings.DB_OWNER, "NAME": database()})
    here.n8n.running.owner.keep_credential("Your database", "postgres", theirs)
    owner_sql.execute(TABLE)
    try:
        for name in sending:
            here.put(name)
        for name, body in DELIVERED.items():
            event = decided(owner_sql) if body is None else body
            answers = here.deliver_at_once(name, [event] * DELIVERIES)
            assert {answer.status for answer in answers} <= {200, 202}, name
        for name, trigger in BEGUN.items():
            here.begin_at_once(name, trigger, DELIVERIES)
    finally:
        owner_sql.execute("DROP TABLE public.customers")
    effects = here.effects()
    assert set(effects.values()) == {1}
    assert {effect: sum(key.split(":")[0] == effect for key in effects) for effect in SENT} == SENT
    assert len(effects) == sum(SENT.values())
    assert owner_sql.execute("SELECT DISTINCT state FROM jobs").fetchall() == [("done",)]


def test_the_gate_of_the_articles_lets_more_than_one_through(
    n8n: RealN8n, owner_sql: psycopg.Connection
) -> None:
    """They say that zero rows stop a branch. In n8n they do not: hence the branch on an outcome.

    The loser of ``INSERT … ON CONFLICT DO NOTHING RETURNING`` gets no row, and n8n's Postgres node
    makes one item of that, ``{"success": true}``: the branch goes on to the send. The table has one
    row, as the articles say; the receiver has an effect for each delivery. Should an n8n ever let
    this test fail, docs/n8n.md may say so.
    """
    login = f"{database()}_gate"
    articles = guests.admit(login, "a password", settings.LEDGER_ROLES["articles"])
    n8n.running.owner.keep_credential("Articles", "postgres", postgres(articles))
    insert = (
        "INSERT INTO idem (idem_key, status, claimed_at) VALUES ($1, 'pending', now())"
        " ON CONFLICT (idem_key) DO NOTHING RETURNING idem_key"
    )
    key = "$('Begin').item.json.body.id"
    gate = workflows.sql("Gate", insert, key) | {"credentials": {"postgres": {"name": "Articles"}}}
    with running(MockProvider(("127.0.0.1", 0))) as receiver:
        send = workflows.http("Send", f"{receiver.url}/hook", f"{{ key: {key} }}")
        n8n.deploy(workflows.chain("articles-gate", gate, send))
        with ThreadPoolExecutor(DELIVERIES) as pool:
            runs = list(pool.map(lambda _: n8n.begin("articles-gate", ORDER), range(DELIVERIES)))
        for run in runs:
            n8n.until(run["execution"], "success")
        assert receiver.effects.counts()["hook"]["by_key"]["evt-1"] > 1
    rows = owner_sql.execute("SELECT count(*) FROM idem WHERE idem_key = 'evt-1'").fetchone()
    assert rows == (1,)
    guests.dismiss(login)
