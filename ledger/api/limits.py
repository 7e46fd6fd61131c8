"""How much of a request is read."""

import time
from dataclasses import dataclass

from django.http import HttpRequest

from ledger.api.problems import ProblemError
from ledger.operations.policies import policy

KEPT_MAX = 32 * 2**20
"""What is kept raw where nothing may be refused for its content."""
FRESH_S = 5
"""How long a changed policy may take to be seen here."""


@dataclass(slots=True)
class _Seen:
    """The policy as last read."""

    value: int = 0
    until: float = 0.0


_seen = _Seen()


def body_max() -> int:
    """Return the longest body of a request whose content must be storable."""
    if _seen.until < time.monotonic():
        _seen.value = int(policy("http_body_max"))
        _seen.until = time.monotonic() + FRESH_S
    return _seen.value


def forget() -> None:
    """Read the policy anew at the next request."""
    _seen.until = 0.0


def take(request: HttpRequest, most: int) -> bytes:
    """Return the bytes of a request; refuse one that is longer, or does not say how long it is."""
    if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
        raise ProblemError(411, "length_required", "send the body with its Content-Length")
    raw = request.read(most + 1)
    if len(raw) > most:
        raise ProblemError(413, "too_long", f"the body is longer than {most:,} bytes; send less")
    return raw
