"""The only place that runs SQL of the ledger: one operation, one statement, one answer."""

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, LiteralString, cast, get_args, get_origin, get_type_hints

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from psycopg import sql

from ledger.errors import (
    GuardBypassedError,
    InvalidArgumentError,
    IsolationLevelError,
    LedgerError,
    NotRecordedError,
)
from ledger.models.base import read_json
from ledger.operations._json import encode

_ERRORS: dict[str, type[LedgerError]] = {
    "LG400": InvalidArgumentError,
    "LG001": IsolationLevelError,
    "22": InvalidArgumentError,  # data the database cannot hold, such as a NUL
    "25006": NotRecordedError,  # the database takes no writes at the moment
    "54": InvalidArgumentError,  # more than the database can take, such as too deep a nesting
}


def call[R](operation: str, argument: Mapping[str, Any], result: type[R]) -> R:
    """Run an operation that answers one row and return it as ``result``.

    Raise GuardBypassedError inside a transaction (a rollback there would erase the ledger's own
    record of a loss) and NotRecordedError when the database did not answer.
    """
    rows = call_many(operation, argument, result)
    if len(rows) != 1:
        raise LedgerError(f"{operation} answered {len(rows)} rows instead of one")
    return rows[0]


def call_many[R](operation: str, argument: Mapping[str, Any], result: type[R]) -> list[R]:
    """Run an operation that answers any number of rows; each becomes a ``result``."""
    names, rows = _rows(_select(operation), [encode(argument)])
    readers = _readers(cast(Hashable, result))
    return [
        result(**{name: readers[name](value) for name, value in zip(names, row, strict=True)})
        for row in rows
    ]


def call_text(operation: str, body: str, overlay: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Run an operation on JSON text as received, with ``overlay`` merged over it.

    Return each row's outcome and the row as JSON text. No number passes through Python, so none
    changes.
    """
    _, rows = _rows(_select_text(operation), [body, encode(overlay)])
    return [(outcome, text) for outcome, text in rows]


def read_value(function: str, *arguments: Any) -> Any:
    """Return the value of a reading function of the ledger, such as ``policy``."""
    statement = sql.SQL("SELECT ledger.{}({})").format(
        sql.Identifier(function), sql.SQL(", ").join(sql.Placeholder() * len(arguments))
    )
    _, rows = _rows(statement.as_string(), list(arguments))
    value = rows[0][0]
    return read_json(value) if isinstance(value, str) and function == "policy" else value


def read_rows(query: LiteralString, *arguments: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query that only reads; for what no operation and no model is there."""
    return _rows(query, list(arguments))[1]


@cache
def _select(operation: str) -> str:
    statement = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)")
    return statement.format(sql.Identifier(operation)).as_string()


@cache
def _select_text(operation: str) -> str:
    statement = sql.SQL(
        "SELECT r.outcome, row_to_json(r)::text FROM ledger.{}(%s::jsonb || %s::jsonb) r"
    )
    return statement.format(sql.Identifier(operation)).as_string()


def _rows(statement: str, values: list[Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
    if connection.in_atomic_block:
        raise GuardBypassedError("operations run in autocommit, never inside a transaction")
    # Django would first ask whether the session still lives. The statement itself tells, below.
    connection.health_check_done = True  # type: ignore[attr-defined]  # the stubs lack it
    try:
        return _execute(statement, values)
    except (DatabaseError, InterfaceError) as error:
        if not _was_cut(error):
            raise _translate(error) from error
        connection.close()
    # Nobody can tell whether it was committed before the connection broke, and every operation may
    # be repeated: asked once more, the ledger says what became of it.
    try:
        return _execute(statement, values)
    except (DatabaseError, InterfaceError) as error:
        raise _translate(error) from error


def _execute(statement: str, values: list[Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [column.name for column in cursor.description], cursor.fetchall()


def _was_cut(error: Exception) -> bool:
    """Say whether the connection broke under a statement that was sent."""
    session = connection.connection
    broke = isinstance(error, OperationalError | InterfaceError)
    return broke and session is not None and bool(session.closed)


def _translate(error: Exception) -> LedgerError:
    """Return what an error of the database means to the caller."""
    cause = error.__cause__
    code = (cause.sqlstate if isinstance(cause, psycopg.Error) else None) or ""
    if known := _ERRORS.get(code) or _ERRORS.get(code[:2]):
        return known(str(error).strip())
    if isinstance(error, OperationalError | InterfaceError):
        connection.close()
        return NotRecordedError(f"the database did not answer: {error}")
    return LedgerError(str(error).strip())


@cache
def _readers(result: Any) -> dict[str, Any]:
    """Return, per field of a result type, what turns the driver's value into the field's."""
    return {name: _reader(hint) for name, hint in get_type_hints(result).items()}


def _reader(hint: Any) -> Any:
    kinds = {hint, *get_args(hint)}
    is_json = any(get_origin(kind) is dict or kind in (dict, Any) for kind in kinds)
    return _json if is_json else lambda value: value


def _json(value: Any) -> Any:
    return read_json(value) if isinstance(value, str) else value
