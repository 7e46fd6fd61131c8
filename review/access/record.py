"""What happened at a closed door goes into the ledger's audit, by its own operation."""

import logging
from urllib.parse import quote
from uuid import uuid4

from django.contrib.auth.models import User
from django.http import HttpRequest

from ledger.errors import LedgerError
from ledger.operations.access import RecordedAccess, record_access
from review.access.address import client_address

_LOG = logging.getLogger(__name__)
_PAGE_LIMIT = 500
# The ledger's word for somebody who is nobody known.
_NOBODY = "(unknown)"


def note(actor: str, event: str, **told: str | None) -> RecordedAccess:
    """Record what happened at a door that is no page, or what is about to happen there."""
    return record_access(attempt_id=uuid4(), actor=actor, event=event, **told)


def refused(request: HttpRequest, event: str, *, actor: str = "", right: str = "") -> None:
    """Record that somebody was refused; they stay refused where that cannot be recorded."""
    try:
        who = actor or request.user.get_username() or _NOBODY
        note(who, event, right=right or None, **place_of(request))
    except LedgerError:
        _LOG.exception("a refusal could not be recorded: %s", event)


def changed(
    request: HttpRequest, event: str, *, subject: str = "", reason: str = ""
) -> RecordedAccess:
    """Record what is about to change in how a person logs in; without the record nothing may."""
    told = {"subject": subject or None, "reason": reason or None}
    return note(request.user.get_username(), event, **place_of(request), **told)


def taken(request: HttpRequest, event: str, *, subject: str, reason: str = "") -> None:
    """Record what is about to be taken away or shown of the archive; without it nothing is."""
    changed(request, event, subject=subject, reason=reason)


def known_name(typed: object) -> str:
    """Return the name of an account; anything else typed there may be somebody's password."""
    name = str(typed or "")
    found = "\x00" not in name and User.objects.filter(username=name).exists()
    return name if found else _NOBODY


def place_of(request: HttpRequest) -> dict[str, str | None]:
    """Name what was asked for, and from where.

    Without the query: it may hold what somebody was looking for.
    """
    page = f"{request.method} {quote(request.path)}"[:_PAGE_LIMIT]
    return {"page": page, "address": client_address(request)}
