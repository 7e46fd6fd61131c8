"""Histories of an engine, drawn by chance: what truly happens to executions, and what is told.

A teller is an n8n that is restarted, overloaded, pruned and upgraded: now and then it does not
answer, calls what goes on crashed for one look, forgets what ended, or takes a stop that never
comes. ``truly_over`` is the truth, which nobody on the other side can see.
"""

import json
import random
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sweeper.errors import ProviderUnavailableError
from sweeper.transport import Answer
from tests.support.n8n import ENDS, HEADER, PREFIX, STOPPED, Engine

GOING_ON = ("new", "running", "waiting")


class Teller:
    """Executions whose truth moves on with every round, and an n8n that tells of them."""

    def __init__(self, seed: int) -> None:
        """Begin with no execution."""
        self.chance = random.Random(seed)
        self._behaves = False
        self._engine = Engine()
        self._flapped: set[str] = set()
        self._forgotten: set[str] = set()

    def begin(self, number: int) -> None:
        """Let an execution begin."""
        how = self.chance.choice(["cancel", "late", "never"])
        self._engine.add(number, self.chance.choice(GOING_ON), on_stop=how)

    def truly_over(self, number: str) -> bool:
        """Say whether an execution has ended in truth."""
        return self._engine.executions[number].status in ENDS

    def move_on(self, *, to_the_end: bool = False) -> None:
        """Let a round pass; in the last one all ends, and everybody behaves."""
        for number, execution in self._engine.executions.items():
            if execution.status in ENDS:
                continue
            execution.status = self.chance.choice(ENDS if to_the_end else [*GOING_ON, *ENDS])
            # A pause sets a stop time, and what goes on after it keeps that.
            if execution.status not in ("new", "running"):
                execution.stopped_at = STOPPED
            if execution.status in ENDS and self.chance.random() < 0.1:
                self._forgotten.add(number)  # it is not saved, or pruned
        if to_the_end:
            self._forgotten.clear()
            self._behaves = True

    def request(self, method: str, url: str, *, headers: Mapping[str, str], **_: Any) -> Answer:
        """Stand in for the transport."""
        path = urlsplit(url).path
        number = path.removeprefix(PREFIX).partition("/")[0]
        if method == "POST":
            return _answer(*self._engine.reply(method, path, headers[HEADER]))
        luck = 1.0 if self._behaves else self.chance.random()
        if luck < 0.04:
            raise ProviderUnavailableError("nobody answered", sent=True)
        if luck < 0.08:
            return Answer(self.chance.choice([401, 403, 500, 502, 200, 302]), {}, b"<h1>?</h1>")
        if number in self._forgotten or luck < 0.1:
            return _answer(404, {"message": "Not Found"})
        status, body = self._engine.reply(method, path, headers[HEADER])
        flaps = 0.12 <= luck < 0.25 and number not in self._flapped and status == 200
        (self._flapped.add if flaps else self._flapped.discard)(number)
        if luck < 0.12:
            body["status"] = "unknown"
        elif flaps and not self.truly_over(number):
            body |= {"status": "crashed", "stoppedAt": STOPPED}
        return _answer(status, body)


def _answer(status: int, body: Mapping[str, Any]) -> Answer:
    return Answer(status, {}, json.dumps(body).encode())
