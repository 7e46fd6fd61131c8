"""Failed log-ins: how many are too many, for how long, counted by what, and told to the audit.

django-axes counts them in rows, so that every process and every host sees the same; here is what it
asks for. A name is locked and an address is locked, each by itself.
"""

from datetime import timedelta
from typing import Any

from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

from review.access import record
from review.access.address import counted_address
from review.policy import policies


def attempts(_request: HttpRequest, _credentials: object) -> int:
    """Return how many failures lock a name or an address."""
    return max(1, int(policies()["login_attempts"]))


def lockout(_request: HttpRequest | None) -> timedelta:
    """Return how long it is locked after the last failure that was counted."""
    return timedelta(seconds=int(policies()["login_lockout_s"]))


def counted_by(request: Any, _credentials: object) -> list[str]:
    """Count by name and by address; where everybody has the proxy's address, by name alone."""
    return ["username", "ip_address"] if counted_address(request) else ["username"]


def connect() -> None:
    """Hear of failed log-ins."""
    user_login_failed.connect(_failed, dispatch_uid="review.access.throttle")


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Record a failure under the account's name; what is locked was not even looked at."""
    if request is None:
        return
    locked = getattr(request, "axes_locked_out", False)
    record.refused(
        request,
        "locked_out" if locked else "login_failed",
        actor=record.known_name(credentials.get("username")),
    )
