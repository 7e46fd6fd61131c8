"""A copy of the rows a workflow works on, beside their table, and what they are like.

The table is read once, in a read-only transaction. The copy is an unlogged table in a schema of its
own, with the table's indexes and none of its triggers or foreign keys; it goes when the measurement
ends, and what a killed one left goes with the next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from psycopg import sql

from ledger import roles

type Names = dict[str, sql.Composable]

SCHEMA = "landed_measure"
COPY = sql.Identifier(SCHEMA, "sample")
LOCK = 0x4C4D4541
"""One measurement at a time: the schema is its own."""
PATIENCE = "60s"

_TOUCH = """
CREATE FUNCTION {schema}.touch(p_n bigint) RETURNS double precision
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_from timestamptz := clock_timestamp();
    v_until timestamptz;
BEGIN
    PERFORM 1 FROM {copy} c WHERE c.landed_n = p_n FOR UPDATE;
    v_until := clock_timestamp();
    UPDATE {copy} c SET landed_touched = c.landed_touched + 1 WHERE c.landed_n = p_n;
    RETURN extract(epoch FROM v_until - v_from) * 1000;
END
$$
"""
_FACTS = """
SELECT count(*), coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY s), 0),
    coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY s), 0), coalesce(max(s), 0)
FROM (SELECT pg_column_size(c) AS s FROM {copy} c) sizes
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """How many rows were copied, and their shape."""

    rows: int
    facts: dict[str, Any]


@contextmanager
def copied(owner: psycopg.Connection, table: str, predicate: str, limit: int) -> Iterator[Sample]:
    """Copy what the predicate selects, at most ``limit`` rows; drop the copy afterwards."""
    name = _resolve(owner, table)
    held = owner.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    if held != (True,):
        raise CommandError("Another measurement is running here; try again when it ended.")
    try:
        _drop(owner)
        yield _copy(owner, name, predicate, limit)
    finally:
        _drop(owner)
        owner.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _resolve(owner: psycopg.Connection, table: str) -> sql.Identifier:
    found = owner.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'p')",
        [table],
    ).fetchone()
    if found is None:
        raise CommandError(f"There is no table {table}.")
    return sql.Identifier(*found)


def _copy(owner: psycopg.Connection, name: sql.Identifier, predicate: str, limit: int) -> Sample:
    names: Names = {"schema": sql.Identifier(SCHEMA), "copy": COPY, "table": name}
    owner.execute(sql.SQL("CREATE SCHEMA {schema}").format(**names))
    owner.execute(
        sql.SQL(
            "CREATE UNLOGGED TABLE {copy} (LIKE {table} INCLUDING INDEXES INCLUDING STORAGE)"
        ).format(**names)
    )
    _fill(owner, names, predicate, limit)
    owner.execute(
        sql.SQL(
            "ALTER TABLE {copy} ADD COLUMN landed_n bigint GENERATED ALWAYS AS IDENTITY UNIQUE,"
            " ADD COLUMN landed_touched integer NOT NULL DEFAULT 0"
        ).format(**names)
    )
    sample = Sample(*_facts(owner, names))
    owner.execute(sql.SQL(_TOUCH).format(**names))
    owner.execute(sql.SQL("ANALYZE {copy}").format(**names))
    return sample


def _fill(owner: psycopg.Connection, names: Names, predicate: str, limit: int) -> None:
    """Fill the copy from a session that may only read, for a bounded time."""
    # The predicate is SQL on purpose: the owner's own words about the owner's own table.
    chosen = sql.SQL("SELECT t.* FROM {table} t WHERE ({predicate}) LIMIT {limit}").format(
        **names, predicate=sql.SQL(predicate), limit=sql.Literal(limit)
    )
    try:
        with _reader(owner) as reader, reader.transaction(), owner.cursor() as into:
            reader.execute("SET TRANSACTION READ ONLY")
            reader.execute("SELECT set_config('statement_timeout', %s, true)", [PATIENCE])
            # Sent as one statement: what ends it early and goes on is refused here.
            reader.execute(sql.SQL("EXPLAIN {}").format(chosen), binary=True)
            with (
                reader.cursor() as source,
                source.copy(sql.SQL("COPY ({}) TO STDOUT").format(chosen)) as rows,
                into.copy(sql.SQL("COPY {copy} FROM STDIN").format(**names)) as copy,
            ):
                for chunk in rows:
                    copy.write(chunk)
    except psycopg.Error as error:
        raise CommandError(f"The rows cannot be read: {error}") from error


def _reader(owner: psycopg.Connection) -> psycopg.Connection:
    return roles.connect(settings.DB_OWNER, owner.info.dbname)


def _facts(owner: psycopg.Connection, names: Names) -> tuple[int, dict[str, Any]]:
    """Return the number of rows, and p50, p95 and max of their size, and the nulls per column."""
    ((rows, p50, p95, largest),) = owner.execute(sql.SQL(_FACTS).format(**names)).fetchall()
    columns = owner.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " AND NOT attisdropped AND attname NOT IN ('landed_n', 'landed_touched') ORDER BY attnum",
        [f"{SCHEMA}.sample"],
    ).fetchall()
    counts = sql.SQL(", ").join(
        sql.SQL("count(*) FILTER (WHERE c.{} IS NULL)").format(sql.Identifier(column))
        for (column,) in columns
    )
    nulls = owner.execute(sql.SQL("SELECT {} FROM {copy} c").format(counts, **names)).fetchone()
    return rows, {
        "rows": rows,
        "row_bytes": {"p50": p50, "p95": p95, "max": largest},
        "null_ratio": {
            column: round(count / rows, 4) if rows else 0.0
            for (column,), count in zip(columns, nulls or (), strict=True)
        },
    }


def _drop(owner: psycopg.Connection) -> None:
    owner.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SCHEMA)))
