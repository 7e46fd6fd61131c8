"""Gmail over its API: the raw message under a deterministic Message-ID, looked up by that.

Configuration: ``from``, ``user`` (default ``me``), ``oauth`` as in ``oauth`` and, for a server that
is not Google's, ``url``. The payload is a JSON object with to, cc, subject, text and html. Gmail
enforces nothing. Where it gives the message another Message-ID the look-up finds nothing, and a
person looks.
"""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from sweeper.errors import LookupInconclusiveError
from sweeper.providers import oauth
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    check_settings,
    setting,
)
from sweeper.providers.http_answer import pick, read_send, text
from sweeper.providers.http_template import call
from sweeper.providers.mail import SEVEN_BIT, check_handle, compose
from sweeper.transport import check_url

API = "https://gmail.googleapis.com"

SETTINGS: Mapping[str, type] = {
    "url": str,
    "user": str,
    "from": str,
    "oauth": dict,
    "allow_private": list,
    "timeout_seconds": float,
}
BEARER = {"Authorization": "Bearer {token}"}

# A mailbox holds one copy of a message, or a few; a search that gives more is no search.
MOST_CANDIDATES = 10


class Gmail:
    """Send the raw message, search by rfc822msgid."""

    def can_look_up(self, config: Config) -> bool:
        """Say yes: whoever may send may be allowed to search."""
        return True

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know."""
        check_settings(config, SETTINGS)
        check_settings(setting(config, "oauth", dict), oauth.OAUTH, "oauth")
        setting(config, "from", str)
        check_url(_messages(config), setting(config, "allow_private", list, []))

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Send the message; a second call would be a second mail."""
        message = compose(identity, payload, setting(config, "from", str))
        raw = base64.urlsafe_b64encode(message.as_bytes(policy=SEVEN_BIT)).decode("ascii")
        answer = call(
            {"url": f"{_messages(config)}/send", "headers": BEARER},
            config,
            identity,
            method="POST",
            body=orjson.dumps({"raw": raw}),
            headers={"Content-Type": "application/json"},
        )
        return read_send(answer, ref="id")

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Search by Message-ID, and compare the header of what the search proposes."""
        check_handle(identity.handle)
        bare = identity.handle.removeprefix("<").removesuffix(">")
        query = urlencode({"q": f"rfc822msgid:{bare}", "includeSpamTrash": "true"})
        found = _get(f"?{query}", config, identity)
        candidates = found.get("messages") or []
        if not isinstance(candidates, list):
            raise LookupInconclusiveError("the search's answer has no list of messages")
        for candidate in candidates[:MOST_CANDIDATES]:
            reference = text(pick(candidate, "id"))
            if reference and _is_sent(reference, identity, config):
                return Found(reference, "Message-ID found by rfc822msgid")
        if len(candidates) > MOST_CANDIDATES or found.get("nextPageToken"):
            raise LookupInconclusiveError("the search gave more messages than were read")
        return Absent("no message with this Message-ID")


def _is_sent(reference: str, identity: Identity, config: Config) -> bool:
    """Say whether this message carries the handle and is more than a draft."""
    wanted = urlencode({"format": "metadata", "metadataHeaders": "Message-ID"})
    message = _get(f"/{quote(reference, safe='')}?{wanted}", config, identity)
    headers = pick(message, "payload.headers")
    if not isinstance(headers, list):
        raise LookupInconclusiveError(f"message {reference} came without its headers")
    same = any(
        str(pick(header, "name")).lower() == "message-id"
        and pick(header, "value") == identity.handle
        for header in headers
    )
    if same and "DRAFT" in (message.get("labelIds") or []):
        raise LookupInconclusiveError(f"message {reference} is a draft: it was not sent")
    return same


def _messages(config: Config) -> str:
    base, user = setting(config, "url", str, API), setting(config, "user", str, "me")
    return f"{base.rstrip('/')}/gmail/v1/users/{quote(user, safe='@')}/messages"


def _get(rest: str, config: Config, identity: Identity) -> dict[str, Any]:
    section = {"url": _messages(config) + rest, "headers": BEARER}
    answer = call(section, config, identity, method="GET")
    if answer.status != 200:
        raise LookupInconclusiveError(f"the look-up was answered with {answer.status}")
    try:
        document = orjson.loads(answer.whole_body())
    except orjson.JSONDecodeError as error:
        raise LookupInconclusiveError(f"the look-up's answer is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise LookupInconclusiveError("the look-up's answer is no object")
    return document


DRIVER = Gmail()
