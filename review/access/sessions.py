"""How long a log-in lasts: while pages are opened, and never longer than a working day.

Django's own expiry does the work. Once a minute at most a session is given its time anew, by the
policies of that moment; between two such minutes a page costs nothing more.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse

from review.policy import policies

_BEGAN: Final = "landed_began"
_SEEN: Final = "landed_seen"
_MINUTE: Final = 60


class SessionAge:
    """Ends a log-in that is too old, and lets one that is used go on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Keep the rest of the chain."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look at the age before any page is asked."""
        if request.user.is_authenticated and not _lives(request.session, time.time()):
            logout(request)
        return self.get_response(request)


def connect() -> None:
    """Let every log-in begin its own time; its first page has then nothing to do for it."""
    user_logged_in.connect(_begin, dispatch_uid="review.access.sessions")


def _begin(request: HttpRequest, **_: Any) -> None:
    request.session[_BEGAN] = int(time.time())
    request.session.pop(_SEEN, None)
    _lives(request.session, time.time())


def _lives(session: SessionBase, now: float) -> bool:
    """Say whether a session may go on; give it its time anew where a minute has passed."""
    if now - session.get(_SEEN, 0) < _MINUTE:
        return True
    ages = policies()
    # Whatever a policy says, there is time to log in and to set it right.
    absolute, idle = (max(_MINUTE, int(ages[f"session_{each}_s"])) for each in ("absolute", "idle"))
    left = session.get(_BEGAN, 0) + absolute - now
    if left <= 0:
        return False
    session[_SEEN] = int(now)
    session.set_expiry(max(1, int(min(left, idle))))
    return True
