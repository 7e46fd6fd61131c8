"""The way out of a crashing turn: relay, provider and n8n as servers, or without sockets."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import pytest

from ledger.crash import crash_point
from sweeper import subscribers
from sweeper.errors import ProviderUnavailableError
from sweeper.killmatrix.effects import Effects, Fault, Reply
from sweeper.killmatrix.provider import SEARCHES, MockProvider
from sweeper.killmatrix.relay import Mode, Relay
from sweeper.killmatrix.server import Journal, running
from sweeper.n8n import client
from sweeper.providers import http_template
from sweeper.transport import Answer
from tests.support import n8n

LOOPBACK = ("127.0.0.1", 0)
SILENT = (Mode.FAIL_BEFORE_FORWARD, Mode.FORWARD_THEN_DROP, Mode.FORWARD_THEN_HANG)
KEY = "Idempotency-Key"


class Wire(Protocol):
    """Relay, provider and n8n in one: what a run sets before and counts after it."""

    url: str
    n8n_url: str
    engine: n8n.Engine

    def fresh(self) -> None:
        """Forget what earlier runs did, where that costs nothing."""

    def mode_for(self, key: str, mode: Mode) -> None:
        """Say what happens to the next request under this key."""

    def refuse_next(self) -> None:
        """Let the provider refuse the next send, without an effect."""

    def sends(self, key: str) -> int:
        """Count the requests under this key that came as far as the relay."""

    def effects(self, kind: str, label: str) -> int:
        """Count effects at the provider."""


class Servers:
    """The shipped relay in front of the shipped mock provider, and a fake n8n."""

    def __init__(self, provider: MockProvider, relay: Relay, engine: n8n.FakeN8n) -> None:
        """Take them while they run."""
        self._provider, self._relay = provider, relay
        self.url, self.n8n_url = relay.url, engine.url
        self.engine = engine.engine

    def fresh(self) -> None:
        """Keep everything: the log of all runs is one."""

    def mode_for(self, key: str, mode: Mode) -> None:
        """Tell the relay."""
        self._relay.set_mode_for(key, mode)

    def refuse_next(self) -> None:
        """Tell the provider."""
        self._provider.effects.fail_next(Fault(422), 1)

    def sends(self, key: str) -> int:
        """Read the acceptance log."""
        return sum(entry["key"] == key for entry in list(self._relay.journal.entries))

    def effects(self, kind: str, label: str) -> int:
        """Ask the provider."""
        return int(self._provider.effects.counts()[kind]["by_key"].get(label, 0))


@contextmanager
def servers() -> Iterator[Servers]:
    """Run them."""
    with ExitStack() as stack:
        provider = stack.enter_context(running(MockProvider(LOOPBACK)))
        relay = stack.enter_context(running(Relay(LOOPBACK, provider.url)))
        yield Servers(provider, relay, stack.enter_context(n8n.serving()))


class NoSockets:
    """The same, called as a function: the points of the network are where they are in truth."""

    url = "http://127.0.0.1:9"
    n8n_url = "http://127.0.0.1:8"

    def __init__(self) -> None:
        """Begin with nothing."""
        self.engine = n8n.Engine()
        self.fresh()

    def fresh(self) -> None:
        """Forget everything."""
        self._effects = Effects(Journal())
        self._modes: dict[str, Mode] = {}
        self._sends: Counter[str] = Counter()

    def mode_for(self, key: str, mode: Mode) -> None:
        """Remember it for one request."""
        self._modes[key] = mode

    def refuse_next(self) -> None:
        """Tell the provider's memory."""
        self._effects.fail_next(Fault(422), 1)

    def sends(self, key: str) -> int:
        """Return the count."""
        return self._sends[key]

    def effects(self, kind: str, label: str) -> int:
        """Return the count."""
        return int(self._effects.counts()[kind]["by_key"].get(label, 0))

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        **_: Any,
    ) -> Answer:
        """Stand in for the transport, the relay and the provider."""
        if url.startswith(self.n8n_url):
            return self._ask_n8n(method, url, headers or {})
        key = (headers or {}).get(KEY, "")
        mode = self._modes.pop(key, Mode.FORWARD_AND_RESPOND)
        self._sends[key] += method == "POST"
        crash_point("http.before")
        crash_point("http.sent")  # the head of the request
        reply = None
        if mode is not Mode.FAIL_BEFORE_FORWARD:
            reply = self._act(method, url, key, body or b"")
        crash_point("http.sent")  # its body: whoever dies now has had the effect
        if reply is None or mode in SILENT:
            crash_point("http.failed")
            raise ProviderUnavailableError("nobody answered", sent=True)
        crash_point("http.answered")
        replayed = {"idempotent-replayed": "true"} if reply.replayed else {}
        return Answer(reply.status, replayed, json.dumps(reply.body).encode())

    def _ask_n8n(self, method: str, url: str, headers: Mapping[str, str]) -> Answer:
        crash_point("http.before")
        status, body = self.engine.reply(method, urlsplit(url).path, headers[n8n.HEADER])
        crash_point("http.sent")  # whoever dies now may have stopped what ran
        crash_point("http.answered")
        return Answer(status, {}, json.dumps(body).encode())

    def _act(self, method: str, url: str, key: str, raw: bytes) -> Reply:
        parts = urlsplit(url)
        if method == "GET":
            kind, member = SEARCHES[parts.path]
            found = self._effects.search(kind, member, parse_qs(parts.query)[member][0])
            return Reply(200, {"data": found, "has_more": False})
        item = json.loads(raw)
        match parts.path:
            case "/charges":
                return self._effects.charge(key, raw, item)
            case "/mail":
                return self._effects.effect("mail", item["message_id"], item)
            case _:
                return self._effects.effect("hook", key, item)


@contextmanager
def no_sockets() -> Iterator[NoSockets]:
    """Put it where the drivers, the subscribers and the client of n8n call the transport."""
    wire = NoSockets()
    with pytest.MonkeyPatch.context() as patch:
        for module in (http_template, subscribers, client):
            patch.setattr(module, "request", wire.request)
        yield wire
