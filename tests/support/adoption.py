"""A database that somebody built from the articles, beside the test's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql
from psycopg.rows import dict_row

from ledger import roles
from tests.support.database import database

ARTICLES = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, payload JSONB NOT NULL, provider TEXT NOT NULL,
    provider_ref TEXT, attempts INT DEFAULT 0, claimed_at TIMESTAMPTZ, lease_seconds INT DEFAULT 600
);
CREATE TABLE idem (
    idem_key TEXT PRIMARY KEY, status TEXT NOT NULL, claimed_at TIMESTAMPTZ, done_at TIMESTAMPTZ
);
CREATE TABLE processed_items (
    item_key VARCHAR(255) PRIMARY KEY, workflow_name VARCHAR(100) NOT NULL,
    processed_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, status VARCHAR(20) NOT NULL,
    payload_hash VARCHAR(64)
);
CREATE TABLE failed_jobs (
    id BIGSERIAL PRIMARY KEY, workflow_name VARCHAR(100) NOT NULL, item_key VARCHAR(255),
    payload TEXT, error_message TEXT, error_node VARCHAR(100), retry_count INT DEFAULT 0,
    failed_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE batch_runs (
    id BIGSERIAL PRIMARY KEY, workflow_name VARCHAR(100), last_cursor VARCHAR(255),
    items_processed INT DEFAULT 0, status VARCHAR(20),
    started_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, completed_at TIMESTAMP NULL
);
CREATE TABLE sweep_locks (name TEXT PRIMARY KEY, holder TEXT);
"""
"""The tables as the articles print them; the third one's in the form PostgreSQL takes."""

ROWS = """
INSERT INTO jobs (id, state, payload, provider, attempts, claimed_at) VALUES
    ('q1', 'queued', '{"to": "a"}', 'resend.com', 0, NULL),
    ('c1', 'claimed', '{"to": "b"}', 'resend.com', 1, now() - interval '1 minute'),
    ('c2', 'claimed', '{"to": "c"}', 'resend.com', 2, now() - interval '1 hour'),
    ('s1', 'sweeping', '{}', 'resend.com', 1, now() - interval '1 hour'),
    ('d1', 'done', '{}', 'stripe', 1, now() - interval '1 day'),
    ('r1', 'review', '{}', 'stripe', 1, now() - interval '1 day'),
    ('x1', 'paused', '{}', 'stripe', 0, NULL);
INSERT INTO idem VALUES
    ('k-pending', 'pending', now() - interval '1 hour', NULL),
    ('k-done', 'done', now() - interval '2 hours', now() - interval '1 hour'),
    ('k-review', 'review', now() - interval '1 day', NULL),
    ('k-both', 'pending', now() - interval '1 hour', NULL),
    (E'two\nlines', 'done', now(), now());
INSERT INTO processed_items (item_key, workflow_name, processed_at, status) VALUES
    ('i-1', 'intake', '2026-03-07 12:00', 'success'), ('i-2', 'intake', now(), 'failed'),
    ('k-both', 'intake', now(), 'success'), ('k-done', 'intake', now(), 'success');
INSERT INTO failed_jobs (workflow_name, item_key, payload, error_message, retry_count) VALUES
    ('intake', 'i-2', '{"a": 1}', 'it broke', 1), ('intake', 'i-3', 'no json', 'it broke', 3),
    ('intake', NULL, NULL, NULL, 0);
INSERT INTO batch_runs (workflow_name, last_cursor, items_processed, status) VALUES
    ('import', '300', 300, 'running'), ('import', '900', 900, 'complete'),
    (NULL, NULL, 0, 'failed');
INSERT INTO sweep_locks VALUES ('sweep', 'host-1');
"""


def adopt(*arguments: str) -> str:
    """Run the command and return what it says."""
    said = StringIO()
    call_command("adopt", *arguments, stdout=said)
    return said.getvalue()


class Old:
    """A database that somebody built from the articles."""

    def __init__(self, name: str, owner: psycopg.Connection) -> None:
        """Keep the connection."""
        self.name, self.owner, self.said = name, owner, ""

    def adopt(self, *arguments: str) -> str:
        """Run the command on this database, whichever Django uses otherwise."""
        here = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = self.name
        try:
            return adopt(*arguments)
        finally:
            connection.close()
            connection.settings_dict["NAME"] = here

    def rows(self, table: str, **where: Any) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        schema, _, name = table.rpartition(".")
        tests = [sql.SQL("{} = %s").format(sql.Identifier(column)) for column in where]
        query = sql.SQL("SELECT * FROM {} WHERE {}").format(
            sql.Identifier(schema or "public", name),
            sql.SQL(" AND ").join([sql.SQL("true"), *tests]),
        )
        with self.owner.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, list(where.values())).fetchall()

    def row(self, table: str, **where: Any) -> dict[str, Any]:
        """Return the one row."""
        (found,) = self.rows(table, **where)
        return found


@contextmanager
def beside(name: str) -> Iterator[psycopg.Connection]:
    """Make a database beside the test's own, and let Django use it."""
    here = connection.settings_dict["NAME"]
    quoted = sql.Identifier(name)
    with roles.connect(settings.DB_OWNER, here) as session:
        session.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(quoted))
        session.execute(sql.SQL("CREATE DATABASE {}").format(quoted))
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            with roles.connect(settings.DB_OWNER, name) as owner:
                yield owner
        finally:
            connection.close()
            connection.settings_dict["NAME"] = here
            session.execute(sql.SQL("DROP DATABASE {}").format(quoted))


@contextmanager
def built(suffix: str) -> Iterator[Old]:
    """Build the articles' tables, with rows."""
    name = f"{database()}_{suffix}"
    with beside(name) as owner:
        owner.execute(ARTICLES)
        owner.execute(ROWS)
        yield Old(name, owner)
