"""What a meeting is, and where each is registered."""

from collections.abc import Callable
from typing import Any

from tests.support.lost import World

Call = tuple[str, dict[str, Any]]
Meeting = Callable[[World], tuple[Call, Call]]
MEETINGS: list[tuple[str, Meeting]] = []


def hears(outcome: str) -> Callable[[Meeting], Meeting]:
    """Register two operations that meet, and what the second must answer."""

    def register(meeting: Meeting) -> Meeting:
        MEETINGS.append((outcome, meeting))
        return meeting

    return register
