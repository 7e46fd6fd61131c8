"""The relay: stands between a worker and a provider and decides which answers get lost.

Killing a process in the right millisecond is luck. Here the interleaving is a switch, so the
ambiguous case (the provider accepted, nobody heard it) is hit on every run. Each request leaves
one line in the acceptance log, written before the answer is let through.
"""

import http.client
import itertools
import socket
import threading
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self, override
from urllib.parse import urlsplit

from sweeper.killmatrix.server import Handler, Journal, LoopbackServer, Refused

CONTROL = "/_relay/"
MODE_HEADER = "X-Relay-Mode"
REPLAYED_HEADER = "Idempotent-Replayed"
"""How a provider says that it had the key before: an answer, but no effect."""
LARGEST_ANSWER = 4_194_304
UPSTREAM_SECONDS = 20
HANG_SECONDS = 60
"""Longer than anybody waits for an answer; then the connection is cut after all."""

# Headers that belong to one connection, and the relay's own.
NOT_PASSED_ON = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "host"}
    | {"content-length", MODE_HEADER.lower()}
)


class Mode(StrEnum):
    """What happens to a request."""

    FAIL_BEFORE_FORWARD = "fail-before-forward"
    FORWARD_THEN_DROP = "forward-then-drop"
    FORWARD_THEN_HANG = "forward-then-hang"
    FORWARD_AND_RESPOND = "forward-and-respond"
    RESPOND_TWICE = "respond-twice"

    @classmethod
    def named(cls, name: str) -> Self:
        """Read a mode; "forward-then-drop-response" is the long name of the second."""
        try:
            return cls(name.strip().removesuffix("-response"))
        except ValueError as error:
            raise Refused(400, f"modes are {', '.join(cls)}") from error


class Relay(LoopbackServer):
    """A relay to one upstream with a mode that can be changed while it runs."""

    def __init__(
        self,
        address: tuple[str, int],
        upstream: str,
        *,
        mode: Mode = Mode.FORWARD_AND_RESPOND,
        log: Path | Journal | None = None,
        key_header: str = "Idempotency-Key",
    ) -> None:
        """Listen; the upstream is fixed for good, requests cannot choose another."""
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the upstream {upstream!r} is not an http or https URL")
        self.upstream = parts
        self.key_header = key_header
        self.journal = log if isinstance(log, Journal) else Journal(log)
        self._lock = threading.Lock()
        self._mode = mode
        self._exceptions: list[Mode] = []
        self._by_key: dict[str, Mode] = {}
        last = self.journal.entries[-1]["id"] if self.journal.entries else 0
        self._numbers = itertools.count(last + 1)
        super().__init__(address, _Handler)

    def set_mode(self, mode: Mode, times: int | None = None) -> None:
        """Change the mode, for good or for the next requests only."""
        with self._lock:
            if times is None:
                self._mode = mode
                self._exceptions.clear()
            else:
                self._exceptions = [mode] * min(max(times, 0), 1_000)

    def set_mode_for(self, key: str, mode: Mode) -> None:
        """Change the mode for the next request that carries this key."""
        with self._lock:
            self._by_key[key] = mode

    def next_mode(self, key: str | None) -> Mode:
        """Return the mode of one request and use up an exception."""
        with self._lock:
            if key is not None and key in self._by_key:
                return self._by_key.pop(key)
            return self._exceptions.pop() if self._exceptions else self._mode

    def record(self, entry: dict[str, Any]) -> None:
        """Write one line of the acceptance log."""
        with self._lock:
            number = next(self._numbers)
        self.journal.add({"id": number, "at": datetime.now(UTC).isoformat(), **entry})

    @override
    def server_close(self) -> None:
        super().server_close()
        self.journal.close()


class _Handler(Handler):
    server: Relay

    @override
    def respond(self, body: bytes) -> None:
        """Control the relay, or treat the request as its mode says."""
        if self.path.startswith(CONTROL):
            self._control(body)
        else:
            self._relay(body)

    def _control(self, body: bytes) -> None:
        what = self.path.removeprefix(CONTROL)
        if self.command == "GET" and what == "log":
            self.answer(HTTPStatus.OK, {"entries": list(self.server.journal.entries)[-1_000:]})
        elif self.command == "POST" and what == "mode":
            wanted = self.json_object(body)
            times = wanted.get("times")
            if times is not None and not isinstance(times, int):
                raise Refused(HTTPStatus.BAD_REQUEST, "times is a number")
            mode, key = Mode.named(str(wanted.get("mode", ""))), wanted.get("key")
            if key is None:
                self.server.set_mode(mode, times)
            else:
                self.server.set_mode_for(str(key), mode)
            self.answer(HTTPStatus.OK, {"mode": wanted["mode"], "times": times})
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "GET log or POST mode")

    def _relay(self, body: bytes) -> None:
        asked, key = self.headers.get(MODE_HEADER), self.headers.get(self.server.key_header)
        mode = Mode.named(asked) if asked else self.server.next_mode(key)
        entry = {
            "mode": mode,
            "method": self.command,
            "path": self.path[:1_000],
            "key": key,
            "forwarded": mode is not Mode.FAIL_BEFORE_FORWARD,
            "status": None,
        }
        if mode is Mode.FAIL_BEFORE_FORWARD:
            self.server.record(entry)
            self._hang_up()
            return
        try:
            status, headers, answer = self._forward(body)
        except (OSError, http.client.HTTPException) as error:
            self.server.record({**entry, "error": repr(error)[:300]})
            self._hang_up()
            return
        replayed = {"replayed": True} if headers.get(REPLAYED_HEADER) == "true" else {}
        self.server.record({**entry, "status": status, **replayed})
        if mode is Mode.FORWARD_THEN_HANG:
            self._wait_until_the_caller_leaves()
        if mode in (Mode.FORWARD_THEN_DROP, Mode.FORWARD_THEN_HANG):
            self._hang_up()
            return
        self.answer_bytes(status, answer, headers)
        if mode is Mode.RESPOND_TWICE:
            self.answer_bytes(status, answer, headers)
            self.close_connection = True  # what is left over must not answer the next request

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Make the same request upstream and read the whole answer."""
        target = self.server.upstream
        secure = target.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(str(target.hostname), target.port, timeout=UPSTREAM_SECONDS)
        try:
            headers = self._passed_on(dict(self.headers.items()))
            connection.request(self.command, target.path.rstrip("/") + self.path, body, headers)
            response = connection.getresponse()
            answer = response.read(LARGEST_ANSWER + 1)
            if len(answer) > LARGEST_ANSWER:
                raise http.client.HTTPException("the upstream's answer is too large")
            return response.status, self._passed_on(dict(response.getheaders())), answer
        finally:
            connection.close()

    @staticmethod
    def _passed_on(headers: dict[str, str]) -> dict[str, str]:
        dropped = NOT_PASSED_ON
        return {name: value for name, value in headers.items() if name.lower() not in dropped}

    def _wait_until_the_caller_leaves(self) -> None:
        """Say nothing for as long as the caller listens: it hangs up, dies, or time is over."""
        self.connection.settimeout(HANG_SECONDS)
        with suppress(OSError):
            self.connection.recv(1)

    def _hang_up(self) -> None:
        """Cut the connection: the caller sees neither status nor reason."""
        self.close_connection = True
        with suppress(OSError):  # it may be cut from the other side already
            self.connection.shutdown(socket.SHUT_RDWR)
