"""A record made for a test and taken away after it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.core.management.base import CommandError
from psycopg import sql

from ledger.models import Target

# What a column that must hold something gets, by the category of its type.
PLAIN = {
    "S": "''",
    "N": "0",
    "B": "false",
    "D": "clock_timestamp()",
    "T": "interval '0'",
    "A": "'{}'",
}
OTHERS = {"json": "'{}'", "jsonb": "'{}'", "uuid": "gen_random_uuid()", "bytea": "''"}
_COLUMNS = """
SELECT a.attname, t.typname, t.typcategory, a.attname = %s
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
    AND NOT a.atthasdef AND a.attidentity = '' AND a.attname <> %s
"""


@contextmanager
def record(owner: psycopg.Connection, target: Target) -> Iterator[str]:
    """Make a record that holds as little as its table allows; it is gone after the block."""
    pk, revision = target.pk_column, target.revision_column
    needed = owner.execute(_COLUMNS, [pk, target.table, revision]).fetchall()
    values = {
        name: _key(target, type_, category) if is_key else _plain(type_, category)
        for name, type_, category, is_key in needed
    }
    table = sql.SQL(target.table or "")
    filling: sql.Composable = sql.SQL("DEFAULT VALUES")
    if values:
        filling = sql.SQL("({}) VALUES ({})").format(
            sql.SQL(", ").join(map(sql.Identifier, values)), sql.SQL(", ").join(values.values())
        )
    insert = sql.SQL("INSERT INTO {} AS t {} RETURNING to_jsonb(t) ->> {}")
    try:
        row = owner.execute(insert.format(table, filling, sql.Literal(pk))).fetchone()
    except psycopg.Error as error:
        raise CommandError(
            f"No scratch record can be made in {target.table}, name one with --record: {error}"
        ) from error
    key = str(row[0]) if row else ""
    try:
        yield key
    finally:
        delete = sql.SQL("DELETE FROM {} t WHERE t.{} = {}")
        owner.execute(delete.format(table, sql.Identifier(pk), sql.Literal(key)))


def _key(target: Target, type_: str, category: str) -> sql.Composable:
    """Return a key that no other record has."""
    if category == "S":
        return sql.Literal(f"collision-test-{secrets.token_hex(8)}")
    if category == "N":
        return sql.SQL("(SELECT coalesce(max({}), 0) + 1 FROM {})").format(
            sql.Identifier(target.pk_column), sql.SQL(target.table or "")
        )
    return _plain(type_, category)


def _plain(type_: str, category: str) -> sql.Composable:
    """Return a value that says nothing."""
    return sql.SQL(OTHERS.get(type_) or PLAIN.get(category, "NULL"))
