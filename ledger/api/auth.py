"""Who calls over HTTP: the token of a workflow, with scopes, or of a person, with their rights."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security import HttpBearer

from ledger.api.problems import ProblemError
from ledger.catalog import EDITS_RIGHT, Operation
from ledger.errors import LedgerError
from ledger.operations._call import read_rows
from ledger.operations.access import record_access
from ledger.operations.policies import policy

_LOG = logging.getLogger(__name__)

FIND = (
    "SELECT sha256, workflow, user_name, scopes FROM public.api_keys"
    " WHERE sha256 = %s AND revoked_at IS NULL"
)
"""Every request asks, so that a revoked token is refused at once."""
WORK = "work:"
"""Scopes that start so name one effect whose queue may be worked, ``work:*`` names all."""


@dataclass(frozen=True, slots=True)
class Token:
    """Whose token it is: exactly one of workflow and user_name is set."""

    workflow: str | None
    user_name: str | None
    scopes: frozenset[str]
    digest: bytes

    @property
    def work(self) -> list[str]:
        """The effects whose queue the token may work, beside its own workflow's."""
        return sorted(each.removeprefix(WORK) for each in self.scopes if each.startswith(WORK))


class BearerToken(HttpBearer):
    """Finds the token of a request among those that were not revoked."""

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:
        """Return whose token it is, None for one nobody has."""
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        found = read_rows(FIND, digest)
        if not found or not compare_digest(bytes(found[0][0]), digest):
            return None
        _, workflow, user_name, scopes = found[0]
        return Token(workflow, user_name, frozenset(scopes), digest)


def claims(token: Token, operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the token says of its caller, or refuse it for this operation.

    What is returned goes over what the body says, so a body can forge none of it.
    """
    if operation.right is not None:
        return {"actor": _person(token, operation, given)}
    if token.workflow is None:
        raise ProblemError(403, "wrong_role", f"{operation.name} needs a token of a workflow")
    named = given.get("workflow")
    # An item of n8n's Error Trigger describes the workflow in an object; it names no caller.
    if isinstance(named, str) and named != token.workflow:
        raise ProblemError(
            403,
            "wrong_role",
            f'this token belongs to the workflow "{token.workflow}"; leave "workflow" out',
            "workflow",
        )
    if not _has_scope(token, operation):
        raise ProblemError(
            403,
            "missing_scope",
            f'this token lacks the scope "{operation.scope}"; make one with it',
        )
    return {"workflow": token.workflow}


def _has_scope(token: Token, operation: Operation) -> bool:
    """Say whether one of the token's scopes covers the operation."""
    reads = operation.http is not None and operation.http[0] == "GET"
    return (
        operation.scope in token.scopes
        or (reads and "read" in token.scopes)
        or (operation.scope == "work" and bool(token.work))
    )


def _person(token: Token, operation: Operation, given: Mapping[str, Any]) -> str:
    """Return the name of the person who decides, or refuse them."""
    decision = given.get("decision")
    right = str(operation.right_for(decision))
    user = person_of(token, operation, right)
    for needed in (right, *([EDITS_RIGHT] if given.get("payload") is not None else [])):
        if not user.has_perm(needed):
            raise missing_right(user.get_username(), needed, operation)
    if operation.may_send(decision) and policy("second_factor_for_sends") is True:
        raise missing_factor(user.get_username(), right, operation)
    return user.get_username()


def person_of(token: Token, operation: Operation, right: str) -> User:
    """Return the person a token belongs to, or refuse a workflow's and a closed account's."""
    if token.user_name is None:
        raise ProblemError(403, "wrong_role", f"{operation.name} needs a token of a person")
    user = User.objects.filter(username=token.user_name, is_active=True).first()
    if user is None:
        raise missing_right(token.user_name, right, operation)
    return user


def missing_right(name: str, right: str, operation: Operation, words: str = "") -> ProblemError:
    """Record that a right is missing, and return what is answered."""
    _record(name, "right_missing", right, operation)
    hint = words or f'"{name}" lacks the right {right} for this'
    return ProblemError(403, "missing_right", hint)


def missing_factor(name: str, right: str, operation: Operation) -> ProblemError:
    """Record that a second factor is missing, and return what is answered."""
    _record(name, "second_factor_missing", right, operation)
    return ProblemError(
        403,
        "second_factor",
        "what may send needs a second factor here, and a token has none; decide at the console",
    )


def _record(name: str, event: str, right: str, operation: Operation) -> None:
    """Record a refusal of a person; they stay refused where that cannot be recorded."""
    try:
        record_access(
            attempt_id=uuid4(),
            actor=name,
            event=event,
            right=right,
            page=" ".join(operation.http or ()),
        )
    except LedgerError:
        _LOG.exception("a refusal could not be recorded: %s", event)
