"""The three doors of the ledger as one object, so that a test is written once for all of them.

    def test_a_second_claim_hears_who_holds_it(door, billing):
        order = {"workflow": "billing", "effect": "charge", "event": {"id": 1}, "payload": {}}
        won = door.call("claim_job", **order)
        lost = door.call("claim_job", **order)
        assert (won.outcome, lost.outcome) == ("won", "held_by_other")

Every door answers the result type of the Python door, so ``lost.lease_expires_at`` is a datetime
everywhere. Arguments are those of the SQL function; ``workflow`` and ``actor`` are among them. Over
HTTP they choose the token. An operation that HTTP does not offer runs through SQL there, as the
runtime role, so a scenario may mix what workers and what the sweeper do. Calls may come from many
threads at once. The rows an operation needs (workflows, effects, ...) are the test's to make.
"""

import hashlib
import secrets
import threading
from datetime import datetime
from functools import cache
from keyword import iskeyword
from typing import Any, Protocol, cast, get_args, get_type_hints
from urllib.parse import quote
from uuid import UUID

import orjson
import psycopg
from django.contrib.auth import get_user_model
from django.test import Client
from django.test.client import ClientHandler
from psycopg import sql
from psycopg.types.json import set_json_loads

from ledger.catalog import OPERATIONS
from ledger.models.base import read_json
from ledger.operations._json import encode
from ledger.operations.base import Caller
from ledger.operations.registry import answer_type, wrappers
from ledger.operations.specification import CALLER
from tests.support.database import Connect

DOORS = ["sql", "python", "http"]
PREFIX = "/api/v1"
SCOPES = sorted({each.scope for each in OPERATIONS.values() if each.scope})


class Door(Protocol):
    """One way into the ledger."""

    name: str

    def call(self, operation: str, **argument: Any) -> Any:
        """Run an operation that answers one row."""

    def call_many(self, operation: str, **argument: Any) -> list[Any]:
        """Run an operation that answers any number of rows."""


class Refused(Exception):  # noqa: N818 - an answer of the HTTP door that holds no row
    """The HTTP door answered without a row: 400, 401, 403, 404, 413 or 503."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        """Keep what was answered."""
        super().__init__(f"{status}: {problem}")
        self.status, self.problem = status, problem


# -- the doors -----------------------------------------------------------------------------------


class SqlDoor:
    """``SELECT * FROM ledger.<operation>(...)`` as n8n's role, or as the runtime role."""

    name = "sql"

    def __init__(self, connect: Connect) -> None:
        """Log in once, so that no two threads make the same login."""
        self._connect = connect
        self._lock = threading.Lock()
        self._own = threading.local()
        connect("n8n").close()

    def call(self, operation: str, **argument: Any) -> Any:
        """Run an operation that answers one row."""
        (row,) = self.call_many(operation, **argument)
        return row

    def call_many(self, operation: str, **argument: Any) -> list[Any]:
        """Run an operation that answers any number of rows."""
        statement = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)").format(sql.Identifier(operation))
        # None is JSON's null here: a test may want to see what a function does with it.
        given = {name: _or_null(value) for name, value in argument.items()}
        cursor = self._session(operation).execute(statement, [encode(given)])
        names = [column.name for column in cursor.description or ()]
        kind = answer_type(operation)
        return [kind(**dict(zip(names, row, strict=True))) for row in cursor]

    def _session(self, operation: str) -> psycopg.Connection:
        """Return this thread's connection of the role that may run the operation."""
        role = "n8n" if OPERATIONS[operation].n8n else "app"
        session: psycopg.Connection | None = getattr(self._own, role, None)
        if session is None or session.closed:
            with self._lock:
                session = self._connect(role)
            set_json_loads(cast(Any, read_json), session)
            setattr(self._own, role, session)
        return session


class PythonDoor:
    """The wrappers of ``ledger.operations``."""

    name = "python"

    def call(self, operation: str, **argument: Any) -> Any:
        """Run an operation."""
        function = wrappers()[operation]
        argument = {f"{name}_" if iskeyword(name) else name: v for name, v in argument.items()}
        if not OPERATIONS[operation].n8n:
            return function(**argument)
        caller = Caller(**{name: argument.pop(name) for name in CALLER if name in argument})
        return function(caller, **argument)

    call_many = call


class HttpDoor:
    """``/api/v1`` with a token of the workflow, or of the person for what people decide."""

    name = "http"

    def __init__(self, owner_sql: psycopg.Connection, inside: SqlDoor) -> None:
        """Keep a way to make tokens, and the door for what HTTP does not offer."""
        self._owner, self._inside = owner_sql, inside
        self._lock = threading.Lock()
        self._tokens: dict[str, str] = {}

    def call(self, operation: str, **argument: Any) -> Any:
        """Run an operation that answers one row; a refusal without a row is raised as Refused."""
        if OPERATIONS[operation].http is None:
            return self._inside.call(operation, **argument)
        return self._rows(operation, argument)[0]

    def call_many(self, operation: str, **argument: Any) -> list[Any]:
        """Run an operation that answers any number of rows."""
        if OPERATIONS[operation].http is None:
            return self._inside.call_many(operation, **argument)
        return self._rows(operation, argument)

    def _rows(self, operation: str, argument: dict[str, Any]) -> list[Any]:
        """Send one request."""
        method, path = OPERATIONS[operation].http or ("", "")
        token = self._token(argument)
        for name in list(argument):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", quote(str(argument.pop(name)), safe=""))
        given = {name: _or_null(value) for name, value in argument.items()}
        response = _client().generic(
            method,
            PREFIX + path,
            "" if method == "GET" else encode(given),
            query_params=argument if method == "GET" else None,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        body = read_json(response.content.decode())
        rows = body if isinstance(body, list) else [body.get("row", body)]
        if rows and "outcome" not in rows[0]:
            raise Refused(response.status_code, body)
        return [_answer(operation, row) for row in rows]

    def _token(self, argument: dict[str, Any]) -> str:
        """Take who calls out of the argument and return a token of that workflow or person."""
        actor, workflow = argument.pop("actor", None), argument.pop("workflow", None)
        with self._lock:
            name = f"person {actor}" if actor else f"workflow {workflow}"
            if name not in self._tokens:
                if actor:
                    get_user_model().objects.create_user(actor, is_superuser=True)
                self._tokens[name] = make_token(
                    self._owner, workflow=workflow, user_name=actor, scopes=SCOPES
                )
            return self._tokens[name]


def _client() -> Client:
    """Return a client of its own; all share the middleware, whose loading costs most."""
    client = Client()
    client.handler = _handler()
    return client


@cache
def _handler() -> ClientHandler:
    handler = ClientHandler()
    handler.load_middleware()
    return handler


def make_token(
    owner_sql: psycopg.Connection,
    *,
    workflow: str | None = None,
    user_name: str | None = None,
    scopes: list[str] | None = None,
) -> str:
    """Store a token of a workflow or of a person and return it."""
    token = secrets.token_urlsafe(24)
    owner_sql.execute(
        "INSERT INTO api_keys (workflow, user_name, sha256, scopes) VALUES (%s, %s, %s, %s)",
        [workflow, user_name, hashlib.sha256(token.encode()).digest(), scopes or []],
    )
    return token


def _or_null(value: Any) -> Any:
    return orjson.Fragment("null") if value is None else value


def _answer(operation: str, row: dict[str, Any]) -> Any:
    """Make the result of the Python door from a row read as JSON."""
    kind = answer_type(operation)
    hints = get_type_hints(kind)
    return kind(**{name: _typed(value, hints[name]) for name, value in row.items()})


def _typed(value: Any, hint: Any) -> Any:
    """Turn the text JSON has for a UUID or a time into one."""
    kinds = {hint, *get_args(hint)}
    if isinstance(value, str) and UUID in kinds:
        return UUID(value)
    if isinstance(value, str) and datetime in kinds:
        return datetime.fromisoformat(value)
    return value


def open_door(name: str, connect: Connect, owner_sql: psycopg.Connection) -> Door:
    """Return the door of this name."""
    if name == "python":
        return PythonDoor()
    inside = SqlDoor(connect)
    return HttpDoor(owner_sql, inside) if name == "http" else inside
