"""A subscriber on loopback: it takes what it is told, or refuses it as often as a test wants."""

import json
from dataclasses import dataclass, field
from typing import Any, override

from sweeper.killmatrix.server import Handler, LoopbackServer


@dataclass
class Heard:
    """One request as it came."""

    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class Notes:
    """What came, and what to answer."""

    heard: list[Heard] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    """Statuses of the next answers; after them 200."""


class Subscriber(LoopbackServer):
    """A webhook that remembers."""

    def __init__(self) -> None:
        """Listen on a free port."""
        self.notes = Notes()
        super().__init__(("127.0.0.1", 0), _Answer)

    @property
    def host(self) -> str:
        """Return host:port, as an operator would allow it."""
        return self.url.removeprefix("http://")


class _Answer(Handler):
    @override
    def respond(self, body: bytes) -> None:
        assert isinstance(self.server, Subscriber)
        notes = self.server.notes
        notes.heard.append(Heard(self.path, self.headers["Idempotency-Key"], json.loads(body)))
        status = notes.answers.pop(0) if notes.answers else 200
        self.answer(status, {"status": status})
