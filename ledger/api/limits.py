"""How much of a request is read, and how many calls of one token are answered."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from django.http import HttpRequest

from ledger.api.problems import ProblemError
from ledger.operations.policies import policy

KEPT_MAX = 32 * 2**20
"""What is kept raw where nothing may be refused for its content."""
FRESH_S = 5
"""How long a changed policy may take to be seen here."""


MINUTE_S = 60


@dataclass(slots=True)
class _Seen:
    """A policy as last read."""

    name: str
    value: int = 0
    until: float = 0.0

    def now(self) -> int:
        """Return its value, read anew when it is no longer fresh."""
        if self.until < time.monotonic():
            self.value = int(policy(self.name))
            self.until = time.monotonic() + FRESH_S
        return self.value


_body_max = _Seen("http_body_max")
_calls_most = _Seen("http_calls_per_minute")


def body_max() -> int:
    """Return the longest body of a request whose content must be storable."""
    return _body_max.now()


@dataclass(slots=True)
class _Calls:
    """How often each token called in this minute, in this process."""

    minute: int = 0
    counts: Counter[bytes] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


_calls = _Calls()


def count_call(token: bytes) -> None:
    """Count a call of a token; refuse it beyond the policy, before anything is read or recorded."""
    most = _calls_most.now()
    if not most:
        return
    minute, into = divmod(time.monotonic(), MINUTE_S)
    with _calls.lock:
        if _calls.minute != int(minute):
            _calls.minute = int(minute)
            _calls.counts.clear()
        _calls.counts[token] += 1
        count = _calls.counts[token]
    if count > most:
        raise ProblemError(
            429,
            "too_many_calls",
            f"this token may call {most:,} times a minute; nothing was recorded, call again later",
            retry_after=int(MINUTE_S - into) + 1,
        )


def forget() -> None:
    """Read the policies anew at the next request, and begin to count anew."""
    _body_max.until = _calls_most.until = 0.0
    _calls.counts.clear()


def take(request: HttpRequest, most: int) -> bytes:
    """Return the bytes of a request; refuse one that is longer, or does not say how long it is."""
    if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
        raise ProblemError(411, "length_required", "send the body with its Content-Length")
    raw = request.read(most + 1)
    if len(raw) > most:
        raise ProblemError(413, "too_long", f"the body is longer than {most:,} bytes; send less")
    return raw
