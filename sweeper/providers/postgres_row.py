"""A row of somebody's PostgreSQL table: inserted under its natural key, or found to be there.

Configuration: ``host``, ``port``, ``database``, ``user``, ``password_env``, ``security`` (``tls``
or, for hosts named in ``allow_private``, ``none``), ``ca_file``, ``table``, ``key_column`` and
``key`` (a template). The payload is a JSON object whose members are the other columns. The table's
own unique index on the key column refuses the second row; a row that is there is never overwritten.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from ledger.crash import crash_point
from sweeper.addresses import ADDRESSES_TRIED, Deadline, is_allowed, resolve
from sweeper.errors import LookupInconclusiveError, ProviderRejectedError, ProviderUnavailableError
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    Sent,
    check_settings,
    secret,
    setting,
    timeout,
)
from sweeper.providers.template import fill, parse, splice

SETTINGS: Mapping[str, type] = {
    "host": str,
    "port": int,
    "database": str,
    "user": str,
    "password_env": str,
    "security": str,
    "ca_file": str,
    "table": str,
    "key_column": str,
    "key": str,
    "allow_private": list,
    "timeout_seconds": float,
}
SECURITIES = ("tls", "none")

# What a configuration is tried with before anybody relies on it.
SAMPLE = Identity("job-1", "row:order 1/ü:v1", "<0123abcd@landed>")

INSERT = """
INSERT INTO {table} ({columns})
SELECT {columns} FROM jsonb_populate_record(NULL::{table}, %s::jsonb)
ON CONFLICT ({key}) DO NOTHING
"""
COMPARE = """
SELECT {same} FROM {table} there, jsonb_populate_record(NULL::{table}, %s::jsonb) sent
WHERE there.{key} = sent.{key}
"""
FIND = "SELECT {key}::text FROM {table} WHERE {key} = %s"


class PostgresRow:
    """Insert a row once, and look whether it is there."""

    def can_look_up(self, config: Config) -> bool:
        """Say yes: a row that was inserted can be asked for by its key."""
        return True

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know, and hosts it would not talk to."""
        check_settings(config, SETTINGS)
        _names(config)
        _key(SAMPLE, config)
        _line(config, read_secret=False)

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Insert the row; where one is there already, say whether it is this one."""
        names, key = _names(config), _key(identity, config)
        columns, row = _row(payload, setting(config, "key_column", str), key)
        names["columns"] = sql.SQL(", ").join(map(sql.Identifier, columns))
        names["same"] = sql.SQL(" AND ").join(
            sql.SQL("to_jsonb(there.{0}) IS NOT DISTINCT FROM to_jsonb(sent.{0})").format(
                sql.Identifier(column)
            )
            for column in columns
        )
        with _connection(config) as connection:
            try:
                crash_point("postgres.before")
                inserted = connection.execute(sql.SQL(INSERT).format(**names), [row]).rowcount
                crash_point("postgres.answered")
                if inserted:
                    return SendResult(Sent.ACCEPTED, provider_ref=key, result={"inserted": True})
                same = connection.execute(sql.SQL(COMPARE).format(**names), [row]).fetchone()
            except psycopg.Error as error:
                return _failed(error)
        if same is None:
            return SendResult(Sent.UNKNOWN, f"the row {key!r} was there and is gone")
        if same[0]:
            found = {"inserted": False}
            return SendResult(Sent.ACCEPTED, provider_ref=key, replayed=True, result=found)
        reason = f"the row {key!r} is there with other values; nothing was written"
        return SendResult(Sent.REJECTED, reason)

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Ask for the row by its key."""
        find, key = sql.SQL(FIND).format(**_names(config)), _key(identity, config)
        table = setting(config, "table", str)
        with _connection(config) as connection:
            try:
                found = connection.execute(find, [key]).fetchone()
            except psycopg.Error as error:
                raise LookupInconclusiveError(f"the database answered: {_words(error)}") from error
        if found is None:
            return Absent(f"no row with this key in {table}")
        return Found(str(found[0]), f"the row is in {table}")


def _names(config: Config) -> dict[str, sql.Composable]:
    """Return what a statement names; identifiers are quoted, never pasted."""
    table = sql.Identifier(*setting(config, "table", str).split("."))
    return {"table": table, "key": sql.Identifier(setting(config, "key_column", str))}


def _key(identity: Identity, config: Config) -> str:
    return fill(setting(config, "key", str, "{provider_key}"), identity)


def _row(payload: bytes, key_column: str, key: str) -> tuple[list[str], str]:
    """Return the columns and the row as JSON; every number keeps the text it was stored with."""
    document = parse(payload)
    if not isinstance(document, dict):
        raise ProviderRejectedError("the payload is not a JSON object, it cannot be a row")
    row = splice(payload, document, {key_column: key})
    return list({key_column: key} | document), row.decode()


def _line(config: Config, *, read_secret: bool = True) -> dict[str, Any]:
    """Return how to connect, without the address."""
    host, port = setting(config, "host", str), setting(config, "port", int, 5432)
    security = setting(config, "security", str, "tls")
    if security not in SECURITIES:
        raise ProviderRejectedError(f"security is one of {', '.join(SECURITIES)}")
    allowed = setting(config, "allow_private", list, [])
    if security == "none" and not is_allowed(host, port, allowed):
        raise ProviderRejectedError(f"{host} is called without TLS only if allow_private names it")
    password = setting(config, "password_env", str)
    return {
        "port": port,
        "dbname": setting(config, "database", str),
        "user": setting(config, "user", str),
        "password": secret(password) if read_secret else "",
        "sslmode": "verify-full" if security == "tls" else "disable",
        "sslrootcert": setting(config, "ca_file", str, "system") if security == "tls" else "",
    }


@contextmanager
def _connection(config: Config) -> Iterator[psycopg.Connection]:
    """Connect to a judged address; the connection is cut at the deadline, whatever it waits for."""
    line, seconds = _line(config), timeout(config)
    host = setting(config, "host", str)
    allowed = setting(config, "allow_private", list, [])
    try:
        addresses = resolve(host, line["port"], Deadline(seconds), allowed)[:ADDRESSES_TRIED]
        connection = psycopg.connect(
            host=",".join([host] * len(addresses)),
            hostaddr=",".join(map(str, addresses)),
            connect_timeout=max(2, round(seconds / len(addresses))),
            autocommit=True,
            prepare_threshold=None,
            application_name="landed",
            **line,
        )
    except (OSError, psycopg.Error) as error:
        raise ProviderUnavailableError(f"{host}: {_words(error)}", sent=False) from error
    with connection, _cut_after(connection, seconds):
        yield connection


@contextmanager
def _cut_after(connection: psycopg.Connection, seconds: float) -> Iterator[None]:
    """Shut the connection down after that long; a duplicate of the socket does it from outside."""
    with socket.socket(fileno=os.dup(connection.fileno())) as guard:

        def cut() -> None:
            with contextlib.suppress(OSError):
                guard.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _failed(error: psycopg.Error) -> SendResult:
    """Read a failure: what the server itself refused was rolled back, anything else is unknown."""
    refused = error.diag.severity_nonlocalized == "ERROR"
    outcome = Sent.REJECTED if refused else Sent.UNKNOWN
    return SendResult(outcome, f"the database answered: {_words(error)}")


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


DRIVER = PostgresRow()
