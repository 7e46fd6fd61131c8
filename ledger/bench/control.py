"""The control of `bench http`: the same operation behind the least of a web program."""

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

import orjson
import psycopg

STATEMENT = "SELECT r.outcome, row_to_json(r)::text FROM ledger.enqueue_job(%s::jsonb) r"
_thread = threading.local()


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """Run the operation on the body, on this thread's own connection."""
    if not hasattr(_thread, "session"):
        _thread.session = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    argument = orjson.dumps(orjson.loads(body) | {"workflow": "bench"}).decode()
    outcome, row = _thread.session.execute(STATEMENT, [argument]).fetchone()
    answer = row.encode()
    status = "201 Created" if outcome == "inserted" else "409 Conflict"
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]
