"""The mock provider: three receivers that count their effects, and say that they are a mock.

POST /charges   forced-unique: honours Idempotency-Key (see ``effects``)
GET  /charges?reference=…   look-up by reference
POST /mail      a mail sink; the same message twice is two mails
GET  /mail?message_id=…     its searchable log
POST /hook      a blind webhook
GET  /effects   how often each happened, per key
POST /_mock/fail            {"status": 500, "after_effect": false, "times": 1}
"""

import hashlib
from http import HTTPStatus
from pathlib import Path
from typing import Any, override
from urllib.parse import parse_qs, urlsplit

from sweeper.killmatrix.effects import KEY_LIFETIME_SECONDS, Effects, Fault, Reply
from sweeper.killmatrix.server import Handler, Journal, LoopbackServer, Refused

MOST_FOUND = 100
SEARCHES = {"/charges": ("charges", "reference"), "/mail": ("mail", "message_id")}


class MockProvider(LoopbackServer):
    """The mock provider as a server; its memory survives a restart through the state file."""

    def __init__(
        self,
        address: tuple[str, int],
        *,
        state: Path | None = None,
        index_delay: float = 0.0,
        key_lifetime: float = KEY_LIFETIME_SECONDS,
    ) -> None:
        """Listen, with the memory an earlier process left."""
        self._journal = Journal(state)
        self.effects = Effects(self._journal, index_delay, key_lifetime)
        super().__init__(address, _Handler)

    @override
    def server_close(self) -> None:
        super().server_close()
        self._journal.close()


class _Handler(Handler):
    server: MockProvider

    @override
    def respond(self, body: bytes) -> None:
        """Let an effect happen, search a log, or count."""
        parts = urlsplit(self.path)
        if self.command == "POST":
            reply = self._act(parts.path, body, self.json_object(body))
            replayed = {"Idempotent-Replayed": "true"} if reply.replayed else {}
            self.answer(reply.status, reply.body, replayed)
        elif self.command == "GET" and parts.path == "/effects":
            self.answer(HTTPStatus.OK, self.server.effects.counts())
        elif self.command == "GET" and parts.path in SEARCHES:
            self.answer(HTTPStatus.OK, self._search(*SEARCHES[parts.path], parts.query))
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "GET /charges, /mail or /effects, or POST")

    def _search(self, kind: str, member: str, query: str) -> dict[str, Any]:
        values = parse_qs(query).get(member)
        if not values:
            raise Refused(HTTPStatus.BAD_REQUEST, f"?{member}= is needed")
        found = self.server.effects.search(kind, member, values[0])
        return {"data": found[:MOST_FOUND], "has_more": len(found) > MOST_FOUND}

    def _act(self, path: str, raw: bytes, item: dict[str, Any]) -> Reply:
        effects = self.server.effects
        key = self.headers.get("Idempotency-Key")
        match path:
            case "/charges":
                if not isinstance(item.get("amount"), int | float):
                    raise Refused(HTTPStatus.BAD_REQUEST, "amount must be a number")
                return effects.charge(key, raw, item, delay=self._delay())
            case "/mail":
                message_id = item.get("message_id")
                if not isinstance(message_id, str) or not message_id:
                    raise Refused(HTTPStatus.BAD_REQUEST, "message_id is needed")
                return effects.effect("mail", message_id, item)
            case "/hook":
                label = key or str(item.get("key") or hashlib.sha256(raw).hexdigest())
                return effects.effect("hook", label, item)
            case "/_mock/fail":
                return self._fail(item)
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "POST /charges, /mail or /hook")

    def _delay(self) -> float:
        """Return how long this request should take, so that another can meet it under way."""
        try:
            return float(self.headers.get("X-Mock-Delay", "0"))
        except ValueError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, "X-Mock-Delay is in seconds") from error

    def _fail(self, wanted: dict[str, Any]) -> Reply:
        status, times = wanted.get("status", 500), wanted.get("times", 1)
        if not (isinstance(status, int) and 400 <= status < 600 and isinstance(times, int)):
            raise Refused(HTTPStatus.BAD_REQUEST, "status is 400 to 599, times a number")
        self.server.effects.fail_next(Fault(status, bool(wanted.get("after_effect"))), times)
        return Reply(HTTPStatus.OK.value, {"fail": status, "times": times})
