"""The public API of an n8n for those who set it up: credentials and workflows, read and written.

What the reconciler asks of executions is not here (client.py). A call that n8n does not follow is
an error in n8n's own words; no key and no credential stands in it.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from sweeper.errors import LookupInconclusiveError, SweeperError
from sweeper.n8n.instances import Instance
from sweeper.transport import Answer, Limits, request

LIMITS = Limits(seconds=30.0, max_bytes=16_000_000)
PAGE = 100
GOOD = range(200, 300)
ACTIVE_SECONDS = 30
LONGEST_WORDS = 300


class ApiError(SweeperError):
    """n8n did not do what it was asked; ``status`` is its answer, the message its words."""

    def __init__(self, status: int, message: str) -> None:
        """Keep both."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Api:
    """The public API of one instance, under its key."""

    instance: Instance

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Make one call and return the document it answers."""
        asked = f"?{urlencode(query)}" if query else ""
        return call(
            method,
            f"{self.instance.url}/api/v1/{path}{asked}",
            body,
            headers={"X-N8N-API-KEY": self.instance.api_key()},
            allow_private=[*settings.LANDED_PRIVATE_HOSTS, *self.instance.own_hosts],
        )

    def every(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield what a list holds, page after page."""
        cursor: dict[str, str] = {}
        while True:
            page = self.call("GET", path, limit=PAGE, **query, **cursor)
            yield from page["data"]
            if not page.get("nextCursor"):
                return
            cursor = {"cursor": page["nextCursor"]}

    def activate(self, workflow: Mapping[str, Any]) -> None:
        """Let a workflow take deliveries, and wait until its webhooks do: n8n answers before."""
        self.call("POST", f"workflows/{workflow['id']}/activate")
        deadline = time.monotonic() + ACTIVE_SECONDS
        for path in webhooks(workflow):
            while not self.listens(path):
                if time.monotonic() > deadline:
                    raise ApiError(404, f"the webhook {path} of {workflow['name']} does not listen")
                time.sleep(0.1)

    def listens(self, path: str) -> bool:
        """Say whether a webhook is there. A call of a wrong kind sets nothing going."""
        answer = request(
            "DELETE",
            f"{self.instance.url}/webhook/{path}",
            allow_private=[*settings.LANDED_PRIVATE_HOSTS, *self.instance.own_hosts],
        )
        return "for DELETE requests" in _words(answer)


def webhooks(workflow: Mapping[str, Any]) -> list[str]:
    """Return the paths of a workflow's webhooks."""
    return [
        node["parameters"]["path"]
        for node in workflow["nodes"]
        if node["type"] == "n8n-nodes-base.webhook" and not node.get("disabled")
    ]


def call(
    method: str,
    url: str,
    body: Any = None,
    *,
    headers: Mapping[str, str],
    allow_private: list[str],
) -> Any:
    """Send JSON and return the JSON that is answered; what is no success is an ApiError."""
    answer = request(
        method,
        url,
        headers={"Accept": "application/json", "Content-Type": "application/json", **headers},
        body=None if body is None else json.dumps(body).encode(),
        allow_private=allow_private,
        limits=LIMITS,
    )
    if answer.status not in GOOD:
        raise ApiError(answer.status, f"n8n answered {answer.status}: {_words(answer)}")
    try:
        return json.loads(answer.whole_body() or b"null")
    except (ValueError, LookupInconclusiveError) as error:
        raise ApiError(answer.status, f"what answers at {url} is no n8n") from error


def _words(answer: Answer) -> str:
    """Return n8n's words about a call, as much of them as can be read."""
    try:
        document = json.loads(answer.body)
        words = str(document["message"])
    except (ValueError, KeyError, TypeError):
        words = answer.body.decode("utf-8", errors="replace")
    return "".join(letter for letter in words if letter.isprintable())[:LONGEST_WORDS]
