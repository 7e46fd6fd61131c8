"""One request through the HTTP door: read it strictly, run its operation, answer the row.

The text of the body goes to the database as it came, so no number changes on the way. What the
token and the address say is laid over it there.
"""

import base64
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from ledger.api import body, items, limits
from ledger.api.auth import Token, claims
from ledger.api.body import Body, BodyError
from ledger.api.problems import ProblemError, answer, answer_many, is_refusal
from ledger.catalog import OUTCOMES, Operation
from ledger.operations._call import call_text
from ledger.operations._json import encode
from ledger.operations.registry import answers_many
from ledger.operations.specification import CALLER, item_members, keeps_item_texts, members

NO_BODY = Body("{}", {}, {})
ACCEPT = "accept"


def serve(operation: Operation, request: HttpRequest, **path: str) -> HttpResponse:
    """Answer one request for an operation."""
    token: Token = request.auth  # type: ignore[attr-defined]  # set by the authentication
    limits.count_call(token.digest)
    accept = accepted(request, operation)
    known = members(operation.name)
    given, kept = _given(request, operation, known)
    overlay: dict[str, Any] = {**kept, **path, **claims(token, operation, given.members)}
    if "payload_text" in known and "payload" in given.members:
        overlay["payload_text"] = given.text_of("payload")
    if keeps_item_texts(operation.name):
        overlay["payload_texts"] = given.texts_in("items", "payload")
    if "work" in known:
        overlay["work"] = token.work
    if "workflow_name" in known and isinstance(given.members.get("workflow"), dict):
        # An item of n8n's Error Trigger: the token's workflow reports, this one failed.
        overlay["workflow_name"] = given.members["workflow"].get("name")
    rows = call_text(operation.name, given.text, overlay)
    if kept and rows[0][0] == "invalid":  # what could be read does not fit: keep the bytes alone
        rows = call_text(operation.name, NO_BODY.text, overlay)
    if answers_many(operation.name) and not is_refusal(rows):
        return answer_many(row for _, row in rows)
    outcome, row = rows[0]
    return answer(operation, outcome, row, accept)


def _given(
    request: HttpRequest, operation: Operation, known: Mapping[str, str]
) -> tuple[Body, dict[str, str]]:
    """Return the body, and the raw bytes of one that cannot be stored but must not be refused."""
    if request.method == "GET":
        return in_address(request), {}
    most = limits.body_max()
    of_items = item_members(operation.name)
    if "raw_base64" not in known and "raw_base64" not in of_items:
        return body.read(limits.take(request, most)), {}
    raw = limits.take(request, limits.KEPT_MAX)
    try:
        return body.read(raw, most), {}
    except BodyError as error:
        if of_items:
            return items.keep(raw, error, most, of_items), {}
        kept = {"raw_base64": base64.b64encode(raw).decode(), "parse_error": str(error)}
        return body.salvage(raw[:most], {*known, *CALLER}), kept


def in_address(request: HttpRequest) -> Body:
    """Return what stands in the query as if it were a body."""
    asked = {name: value for name, value in request.GET.items() if name != ACCEPT}
    return Body(encode(asked), asked, {})


def accepted(request: HttpRequest, operation: Operation) -> frozenset[str]:
    """Return the outcomes the caller has a branch for."""
    listed = request.GET.get(ACCEPT)
    if listed is None:
        return operation.accept
    accept = frozenset(listed.split(","))
    if unknown := accept - OUTCOMES:
        raise ProblemError(400, "invalid", f'no outcome is called "{min(unknown)[:60]}"', "?accept")
    return accept
