"""Tokens of the HTTP door. The secret is made and shown here, once; the ledger keeps its hash."""

import hashlib
import secrets
from dataclasses import dataclass

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail

TOKEN_BYTES = 32
"""As much chance as the hash that is kept of it."""


@dataclass(frozen=True, slots=True)
class CreatedToken(Answer):
    """The number a token is revoked by."""

    token_id: int | None
    detail: Detail


@dataclass(frozen=True, slots=True)
class RevokedToken(Answer):
    """Whether it worked until now."""

    detail: Detail


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """What create_token answered, and the token itself: shown once, kept nowhere."""

    answer: CreatedToken
    token: str


def issue_token(
    *,
    actor: str,
    reason: str,
    workflow: str | None = None,
    user_name: str | None = None,
    scopes: list[str] | None = None,
    note: str | None = None,
    token: str | None = None,
) -> IssuedToken:
    """Draw a secret, or take one that was drawn before, and register its hash; return both."""
    token = token or secrets.token_urlsafe(TOKEN_BYTES)
    answer = create_token(
        actor=actor,
        sha256=hashlib.sha256(token.encode()).hexdigest(),
        reason=reason,
        workflow=workflow,
        user_name=user_name,
        scopes=scopes,
        note=note,
    )
    return IssuedToken(answer, token)


def create_token(
    *,
    actor: str,
    sha256: str,
    reason: str,
    workflow: str | None = None,
    user_name: str | None = None,
    scopes: list[str] | None = None,
    note: str | None = None,
) -> CreatedToken:
    """Register the hash of a token for the HTTP door; the token itself never comes here."""
    argument = {
        "actor": actor,
        "sha256": sha256,
        "reason": reason,
        "workflow": workflow,
        "user_name": user_name,
        "scopes": scopes,
        "note": note,
    }
    return call("create_token", argument, CreatedToken)


def revoke_token(
    *,
    actor: str,
    token_id: int,
    reason: str,
) -> RevokedToken:
    """A token stops working at once; its row stays."""
    argument = {
        "actor": actor,
        "token_id": token_id,
        "reason": reason,
    }
    return call("revoke_token", argument, RevokedToken)
