"""The database a bench works in: made by the owner, migrated, registered, dropped at the end."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import errors, sql

from ledger import roles

MAINTENANCE = "postgres"
ATTEMPTS = 5
WORKFLOW = "bench"
EFFECT = "bench-charge"
PROVIDER = "bench-pay"
REGISTER = """
INSERT INTO workflows (name) VALUES ('bench');
INSERT INTO providers (name, class, key_ttl_seconds) VALUES ('bench-pay', 'forced_unique', 86400);
INSERT INTO effects (name, workflow, provider, delivery)
VALUES ('bench-charge', 'bench', 'bench-pay', 'workflow_queue');
INSERT INTO key_specs (effect, version, mode, fields, canon)
VALUES ('bench-charge', 1, 'event_id', '{id}', '{raw}');
"""
PAYLOAD = {"customer": "c-10483", "amount": 4000, "currency": "EUR", "note": "n" * 80}
"""About 150 bytes, as the other programs get."""


@contextmanager
def database() -> Iterator[str]:
    """Make a migrated database with one registered effect, and drop it afterwards."""
    name = f"landed_bench_{uuid4().hex[:8]}"
    with fresh(name), using(name):
        call_command("migrate", verbosity=0, interactive=False)
        with owner(name) as session:
            session.execute(REGISTER)
        yield name


@contextmanager
def using(name: str) -> Iterator[None]:
    """Let the models of this process be those of that database."""
    connection = connections["default"]
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


@contextmanager
def fresh(name: str) -> Iterator[str]:
    """Make an empty database, and drop it afterwards."""
    with roles.connect(settings.DB_OWNER, MAINTENANCE) as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield name
        finally:
            _drop(session, name)


def _drop(session: psycopg.Connection, name: str) -> None:
    """Drop a database once the sessions in it are gone; the server waits some seconds for them."""
    for attempt in range(ATTEMPTS):
        try:
            session.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
        except errors.ObjectInUse:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def owner(name: str) -> psycopg.Connection:
    """Connect as the owner, to whom all tables belong."""
    return roles.connect(settings.DB_OWNER, name)


def app(name: str) -> psycopg.Connection:
    """Connect as the runtime login."""
    return roles.connect(settings.DB_APP, name)


def order(number: object) -> dict[str, Any]:
    """Return the argument that claims or enqueues an event's effect."""
    return {
        "workflow": WORKFLOW,
        "effect": EFFECT,
        "event": {"id": f"evt-{number}"},
        "payload": PAYLOAD | {"order": f"{number}"},
    }


def call(session: psycopg.Connection, operation: str, argument: dict[str, Any]) -> list[Any]:
    """Run an operation and return its rows."""
    function = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)").format(sql.Identifier(operation))
    return session.execute(function, [json.dumps(argument)], prepare=True).fetchall()


# -- volume --------------------------------------------------------------------------------------

# Rows as the operations leave them, made in bulk.
FILL: LiteralString = """
INSERT INTO idem (idem_key, effect, event_key, status, outcome, job_id, workflow, payload_hash,
    done_at, last_possible_retry_at, retain_until)
SELECT %(effect)s || ':' || %(mark)s || n, %(effect)s, %(mark)s || n,
    CASE %(state)s WHEN 'done' THEN 'done' ELSE 'pending' END,
    CASE %(state)s WHEN 'done' THEN 'success' END, %(mark)s || n, 'bench', md5(n::text),
    CASE %(state)s WHEN 'done' THEN now() END, now() + interval '1 day', now() + interval '60 days'
FROM generate_series(1, %(rows)s) n;
INSERT INTO jobs (id, idem_key, effect, workflow, provider, state, payload, payload_hash, event,
    provider_key, handle, run_after, ready_at, attempts, owner_token, owner_kind, owner_name,
    claimed_at, lease_seconds, lease_expires_at, marker_at, first_marked_at, send_no, done_at)
SELECT %(mark)s || n, %(effect)s || ':' || %(mark)s || n, %(effect)s, 'bench', e.provider,
    %(state)s, jsonb_build_object('order', n, 'note', repeat('n', 120)), md5(n::text),
    jsonb_build_object('id', n), %(effect)s || ':' || %(mark)s || n || ':v1',
    '<' || md5(%(mark)s || n) || '@landed>', t.at,
    CASE %(state)s WHEN 'queued' THEN t.at END, (%(state)s <> 'queued')::integer,
    CASE %(state)s WHEN 'claimed' THEN gen_random_uuid() END,
    CASE %(state)s WHEN 'claimed' THEN 'worker' END,
    CASE %(state)s WHEN 'claimed' THEN 'bench' END,
    CASE %(state)s WHEN 'claimed' THEN t.at END, 600,
    CASE %(state)s WHEN 'claimed' THEN t.at + interval '600 seconds' END,
    CASE WHEN %(marked)s THEN t.at END, CASE WHEN %(marked)s THEN t.at END, %(marked)s::integer,
    CASE %(state)s WHEN 'done' THEN now() END
FROM generate_series(1, %(rows)s) n
CROSS JOIN LATERAL (SELECT now() + make_interval(secs => %(age)s + n * 1e-4)) t (at)
JOIN effects e ON e.name = %(effect)s;
"""


def fill(
    session: psycopg.Connection,
    state: str,
    rows: int,
    *,
    mark: str = "fill-",
    age: float = 0,
    effect: str = EFFECT,
    marked: bool = False,
) -> None:
    """Add jobs in one state, their ids a mark and a number.

    ``age`` moves their claim or their due time by that many seconds; ``marked`` ones may have been
    sent.
    """
    values = {"state": state, "rows": rows, "mark": mark, "age": age}
    with session.transaction():
        psycopg.ClientCursor(session).execute(FILL, values | {"effect": effect, "marked": marked})


def settle(session: psycopg.Connection) -> None:
    """Leave tables and statistics as they are some time after the writes."""
    session.execute("VACUUM (ANALYZE)")
