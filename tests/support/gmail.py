"""Gmail's API on loopback: tokens, raw send, search by rfc822msgid, metadata of a message.

The shapes are those of Google's reference; the search is as lax as a search may be (any case, any
part), so that whoever asks has to compare for themselves.
"""

import base64
import itertools
from email import policy
from email.parser import BytesParser
from http import HTTPStatus
from typing import Any, override
from urllib.parse import parse_qs, urlsplit

from sweeper.killmatrix.server import Handler, LoopbackServer, Refused

MESSAGES = "/gmail/v1/users/me/messages"
CLIENT = {"client_id": "client", "client_secret": "hush", "refresh_token": "again"}
EXPIRED = {
    "error": {
        "code": 401,
        "message": "Request had invalid authentication credentials.",
        "status": "UNAUTHENTICATED",
    }
}


class Gmail(LoopbackServer):
    """One mailbox and its tokens."""

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        """Begin with an empty mailbox."""
        self.messages: list[dict[str, Any]] = []
        self.tokens = itertools.count(1)
        self.valid = ""
        self.label = "SENT"
        super().__init__(address, _Handler)

    def copies(self, message_id: str) -> int:
        """Count the messages with exactly this Message-ID."""
        return sum(message["message_id"] == message_id for message in self.messages)


class _Handler(Handler):
    server: Gmail

    @override
    def respond(self, body: bytes) -> None:
        """Answer as Google's servers do."""
        parts = urlsplit(self.path)
        if parts.path == "/token":
            self.answer(HTTPStatus.OK, self._token(body))
        elif self.headers.get("Authorization") != f"Bearer {self.server.valid}":
            self.answer(HTTPStatus.UNAUTHORIZED, EXPIRED)
        elif self.command == "POST" and parts.path == f"{MESSAGES}/send":
            self.answer(HTTPStatus.OK, self._send(self.json_object(body)["raw"]))
        elif self.command == "GET" and parts.path == MESSAGES:
            self.answer(HTTPStatus.OK, self._search(parse_qs(parts.query)["q"][0]))
        elif self.command == "GET" and parts.path.startswith(f"{MESSAGES}/"):
            self.answer(HTTPStatus.OK, self._read(parts.path.rpartition("/")[2]))
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def _token(self, body: bytes) -> dict[str, Any]:
        sent = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if sent != {"grant_type": "refresh_token", **CLIENT}:
            raise Refused(HTTPStatus.BAD_REQUEST, "invalid_grant")
        self.server.valid = f"ya29.{next(self.server.tokens)}"
        return {"access_token": self.server.valid, "expires_in": 3599, "token_type": "Bearer"}

    def _send(self, raw: str) -> dict[str, Any]:
        message = BytesParser(policy=policy.default).parsebytes(base64.urlsafe_b64decode(raw))
        number = f"18c{len(self.server.messages):013x}"
        self.server.messages.append({"id": number, "message_id": str(message["Message-ID"])})
        return {"id": number, "threadId": number, "labelIds": [self.server.label]}

    def _search(self, query: str) -> dict[str, Any]:
        wanted = query.removeprefix("rfc822msgid:").casefold()
        found = [
            {"id": each["id"], "threadId": each["id"]}
            for each in self.server.messages
            if wanted in each["message_id"].casefold()
        ]
        count = {"resultSizeEstimate": len(found)}
        return {"messages": found, **count} if found else count

    def _read(self, number: str) -> dict[str, Any]:
        for each in self.server.messages:
            if each["id"] == number:
                headers = [{"name": "Message-Id", "value": each["message_id"]}]
                return {
                    "id": number,
                    "threadId": number,
                    "labelIds": [self.server.label],
                    "payload": {"mimeType": "text/plain", "headers": headers},
                }
        raise Refused(HTTPStatus.NOT_FOUND, "Requested entity was not found.")
