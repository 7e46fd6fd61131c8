"""Answers of the HTTP door: which status an outcome has, and problem+json for what went wrong.

A 5xx means that nothing was recorded; 2xx, 409 and 422 that something durable exists.
"""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
from django.http import HttpResponse

from ledger.catalog import Operation

REFUSED_STATUS = {
    "unknown_effect": 404,
    "unknown_target": 404,
    "wrong_role": 403,
    "missing_key": 422,
    "key_is_run_identity": 422,
    "invalid": 422,
}
ACCEPTED_STATUS = {"inserted": 201, "needs_second_person": 202}
NO_SUCH_ID = frozenset({"lost_claim", "lost_record", "empty"})
"""What a GET answers for an id nobody knows."""
CONFLICT = 409
ROW_STATUS = {200, *ACCEPTED_STATUS.values(), CONFLICT}
"""Under these the body is the row itself."""


class ProblemError(Exception):
    """A request that got no row of an operation."""

    def __init__(
        self,
        status: int,
        code: str,
        hint: str,
        path: str | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        """Keep what to answer: what is wrong, where, what to do about it, and when."""
        super().__init__(f"{status} {code}: {hint}")
        self.status, self.code, self.hint, self.path = status, code, hint, path
        self.retry_after = retry_after


def problem(
    status: int, code: str, hint: str, *, path: str | None = None, row: str | None = None
) -> HttpResponse:
    """Return a problem document (RFC 9457); ``row`` is the text of the operation's row."""
    document: dict[str, Any] = {
        "type": f"urn:landed:problem:{code}",
        "title": code.replace("_", " "),
        "status": status,
        "code": code,
        "detail": hint,
    }
    if path is not None:
        document["path"] = path
    if row is not None:
        document |= {"outcome": code, "row": orjson.Fragment(row)}
    return _respond(status, orjson.dumps(document), "application/problem+json")


def answer(operation: Operation, outcome: str, row: str, accept: frozenset[str]) -> HttpResponse:
    """Return the operation's row under the status its outcome has for this caller."""
    status = _status(operation, outcome, accept)
    if status not in ROW_STATUS:
        detail = orjson.loads(row).get("detail") or {}
        hint = detail.get("hint") or f"{operation.name} answered {outcome}"
        response = problem(status, outcome, hint, path=detail.get("path"), row=row)
    else:
        response = _respond(status, row.encode(), "application/json")
    if outcome == "replay":
        response["Idempotency-Replayed"] = "true"
    if outcome == "held_by_other" and (seconds := _lease_left(orjson.loads(row))) is not None:
        response["Retry-After"] = str(seconds)
    return response


def answer_many(rows: Iterable[str]) -> HttpResponse:
    """Return all rows under 200: each has its own outcome, and the caller looks at each."""
    return _respond(200, f"[{','.join(rows)}]".encode(), "application/json")


def is_refusal(rows: list[tuple[str, str]]) -> bool:
    """Say whether a call that answers many rows was refused as a whole."""
    if len(rows) != 1:
        return False
    ((outcome, row),) = rows
    return outcome in REFUSED_STATUS and orjson.loads(row).get("item") is None


def _status(operation: Operation, outcome: str, accept: frozenset[str]) -> int:
    """Return the status of an outcome; what the caller has a branch for is a success."""
    if outcome in accept:
        return ACCEPTED_STATUS.get(outcome, 200)
    if operation.http and operation.http[0] == "GET" and outcome in NO_SUCH_ID:
        return 404
    return REFUSED_STATUS.get(outcome, CONFLICT)


def _lease_left(row: dict[str, Any]) -> int | None:
    """Return the seconds until the other's lease ends, at least one; None when it is not known."""
    ends = row.get("lease_expires_at") or (row.get("detail") or {}).get("lease_expires_at")
    if ends is None:
        return None
    left = (datetime.fromisoformat(ends) - datetime.now(UTC)).total_seconds()
    return max(1, math.ceil(left))


def _respond(status: int, content: bytes, content_type: str) -> HttpResponse:
    response = HttpResponse(content, status=status, content_type=content_type)
    response["Content-Length"] = str(len(content))
    response["Cache-Control"] = "no-store"
    return response
