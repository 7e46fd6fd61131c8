"""What people do over HTTP that is no operation of the ledger: the verbs of the floor above.

That floor says what a verb takes, who may and what comes of it. Here is what every request has in
common with the operations: whose token it is, a body read strictly, and how an answer looks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from ledger.api import body, limits
from ledger.api.auth import Token, person_of
from ledger.api.body import Body
from ledger.api.door import NO_BODY, accepted, in_address
from ledger.api.problems import ProblemError, answer
from ledger.catalog import Operation
from ledger.operations._json import encode


@dataclass(frozen=True, slots=True)
class PersonVerb:
    """One verb: its route and right as an operation has them, what it takes, and what it does.

    ``run`` gets the person, the parameters of the path and the body, and answers a row with an
    outcome; it refuses by raising ProblemError.
    """

    operation: Operation
    says: str
    takes: Mapping[str, str]
    run: Callable[[User, Mapping[str, str], Body], Mapping[str, Any]]


def serve(verb: PersonVerb, request: HttpRequest, **path: str) -> HttpResponse:
    """Answer one request for a verb."""
    token: Token = request.auth  # type: ignore[attr-defined]  # set by the authentication
    limits.count_call(token.digest)
    accept = accepted(request, verb.operation)
    if request.method == "GET":
        given = in_address(request)
    else:
        raw = limits.take(request, limits.body_max())
        given = body.read(raw) if raw else NO_BODY
    user = person_of(token, verb.operation, str(verb.operation.right))
    if unknown := sorted(set(given.members) - set(verb.takes)):
        known = ", ".join(verb.takes) or "nothing"
        raise ProblemError(422, "invalid", f"this takes {known}", unknown[0][:120])
    row = verb.run(user, path, given)
    return answer(verb.operation, row["outcome"], encode(row), accept)
