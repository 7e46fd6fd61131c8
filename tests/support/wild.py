"""A workflow that stores whatever it is given, through SQL or HTTP, as any kind of item."""

import base64
import json
from typing import Any

import psycopg
from psycopg import errors, sql

from tests.support.database import Connect
from tests.support.doors import SCOPES, make_token
from tests.support.factories import make_effect, make_workflow
from tests.support.http import Http

OPERATIONS = {"failed_job": "post_failed_job", "conflict": "post_conflict", "job": "enqueue_job"}
PATHS = {"failed_job": "/failed-jobs", "conflict": "/conflicts", "job": "/jobs"}
# What comes of a text that is no JSON to PostgreSQL, before any function is called.
UNREADABLE = (psycopg.DataError, errors.StatementTooComplex, UnicodeEncodeError)


def argument(kind: str, number: int, text: str) -> dict[str, Any]:
    """Return all of an item but the document; where that says a text as its id, it stands here."""
    said = said_in(text)
    if kind == "failed_job":
        return {"item_key": f"{said} {number}", "error_message": said, "error_node": said}
    if kind == "job":
        return {"effect": "charge", "event": {"id": f"{said} {number}"}}
    loss = {"kind": "stale_version", "target": "crm", "record_key": f"{said} {number}"}
    return loss | {"version_read": said, "version_found": 2, "event": {"id": said}}


def said_in(text: str) -> str:
    """Return the text that a document is about, if it is about one."""
    try:
        return str(json.loads(text)["id"])[:200] if text.startswith('{"a": "') else "nothing"
    except (ValueError, KeyError):
        return "nothing"


def whole(kind: str, number: int, text: str) -> str:
    """Return the item as the text of its JSON, the document where it is carried and shown."""
    rest = json.dumps(argument(kind, number, text))[:-1]
    places = {"conflict": ("attempted", "base", "current")}.get(kind, ("payload",))
    return rest + "".join(f', "{place}": {text}' for place in places) + "}"


def as_bytes(kind: str, number: int, text: str) -> dict[str, Any]:
    """Return the item as a caller sends it whose document is no JSON."""
    raw = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    carried = {"attempted": None} if kind == "conflict" else {}
    return argument(kind, number, text) | carried | {"raw_base64": raw, "parse_error": "no JSON"}


class Wild:
    """A workflow that stores what it is given, and again as bytes where that is refused."""

    def __init__(self, owner: psycopg.Connection, connect: Connect) -> None:
        """Register the workflow, its effect, and both ways in."""
        make_workflow(owner, "wild")
        make_effect(owner, "charge", workflow="wild")
        self._http = Http(make_token(owner, workflow="wild", scopes=SCOPES))
        self._session = connect("n8n")

    def send(self, door: str, kind: str, number: int, text: str) -> None:
        """Store it; a refusal is a clear one and never a failure."""
        send = self._by_http if door == "http" else self._by_sql
        if not send(kind, whole(kind, number, text)) and kind != "job":
            send(kind, json.dumps(as_bytes(kind, number, text)))

    def _by_http(self, kind: str, body: str) -> bool:
        answer = self._http.post(PATHS[kind], body.encode("utf-8", "surrogatepass"))
        assert answer.status_code < 500, (body[:200], answer.content[:500])
        if answer.status_code >= 400:
            assert json.loads(answer.content)["detail"], body[:200]
        return answer.status_code < 400

    def _by_sql(self, kind: str, body: str) -> bool:
        statement = sql.SQL("SELECT outcome FROM ledger.{}(%s::jsonb)")
        named = body[:-1] + ', "workflow": "wild"}'
        try:
            self._session.execute(statement.format(sql.Identifier(OPERATIONS[kind])), [named])
        except UNREADABLE:
            return False  # PostgreSQL reads no such text as JSON; no function was called
        return True
