"""A relay for whole connections: it loses answers of PostgreSQL, SMTP or HTTP exactly on demand.

Killing a server at random never hits the moment that matters: the statement is committed and its
answer is lost. Here that moment is a switch. The reply is always awaited to its end before anything
is cut, so what a caller lost has really happened.
"""

import contextlib
import itertools
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from socketserver import BaseRequestHandler
from typing import Any, Self, override
from urllib.parse import urlsplit

from sweeper.killmatrix.framing import Framing, Http, Postgres, Smtp
from sweeper.killmatrix.server import Journal, LoopbackServer, Refused

PIECE = 65_536
HANG_SECONDS = 60  # longer than anybody waits
UPSTREAM_SECONDS = 60  # how long a reply is awaited before a connection counts as dead
MOST_ARMED = 1_000
PROTOCOLS: dict[str, tuple[Callable[[], Framing], int]] = {
    "postgresql": (Postgres, 5432),
    "smtp": (Smtp, 25),
    "http": (Http, 80),
}


class Fault(StrEnum):
    """What happens to an exchange; the words are those of the HTTP relay's modes, and one more."""

    FORWARD = "forward-and-respond"
    DROP_BEFORE = "fail-before-forward"
    DROP_AFTER = "forward-then-drop"
    HANG = "forward-then-hang"
    TWICE = "respond-twice"
    CUT_MID_REPLY = "cut-mid-reply"

    @classmethod
    def named(cls, name: str) -> Self:
        """Read one; "forward-then-drop-response" is the long name of DROP_AFTER."""
        try:
            return cls(name.strip().removesuffix("-response"))
        except ValueError as error:
            raise Refused(400, f"modes are {', '.join(cls)}") from error

    @property
    def holds_reply(self) -> bool:
        """Whether the reply is kept back until it is complete."""
        return self not in (Fault.FORWARD, Fault.DROP_BEFORE)


class TcpRelay(LoopbackServer):
    """A relay to one upstream; every exchange is written down before its fate is seen.

    ``mode`` is what happens on connections made from now on; ``arm`` names the fate of the next
    exchanges, whichever connection they come on. Log-ins pass untouched.
    """

    def __init__(
        self,
        address: tuple[str, int],
        upstream: str,
        *,
        mode: Fault = Fault.FORWARD,
        keep_bytes: int = 1,
        log: Path | Journal | None = None,
    ) -> None:
        """Listen; ``upstream`` is postgresql://, smtp:// or http://, a host and a port."""
        parts = urlsplit(upstream)
        if parts.scheme not in PROTOCOLS or not parts.hostname:
            known = " or ".join(f"{name}://host:port" for name in PROTOCOLS)
            raise ValueError(f"the upstream {upstream!r} is not {known}")
        self.framing, port = PROTOCOLS[parts.scheme]
        self.upstream = (parts.hostname, parts.port or port)
        self.mode, self.keep_bytes = mode, keep_bytes
        self.journal = log if isinstance(log, Journal) else Journal(log)
        self._armed: deque[tuple[Fault, bytes]] = deque(maxlen=MOST_ARMED)
        self._lock = threading.Lock()
        last = self.journal.entries[-1]["id"] if self.journal.entries else 0
        self._numbers = itertools.count(last + 1)
        self.connection_numbers = itertools.count(1)
        super().__init__(address, _Connection)

    def arm(self, fault: Fault, times: int = 1, *, within: bytes = b"") -> None:
        """Let this happen to the next exchanges whose request begins with a piece that has this."""
        self._armed.extend([(fault, within)] * times)

    def next_fault(self, usual: Fault, request: bytes) -> Fault:
        """Return the fate of one exchange and use up what was armed for it."""
        with self._lock:
            for armed in self._armed:
                if armed[1] in request:
                    self._armed.remove(armed)
                    return armed[0]
        return usual

    def record(self, entry: dict[str, Any]) -> None:
        """Write one line of the log."""
        with self._lock:
            self.journal.add(
                {"id": next(self._numbers), "at": datetime.now(UTC).isoformat()} | entry
            )

    @property
    @override
    def url(self) -> str:
        """Return where it listens, in the upstream's protocol."""
        scheme = next(name for name, (kind, _) in PROTOCOLS.items() if kind is self.framing)
        host, port = self.server_address[:2]
        return f"{scheme}://{host!s}:{port}"

    @override
    def server_close(self) -> None:
        super().server_close()
        self.journal.close()


class _Connection(BaseRequestHandler):
    """One client's connection and its own one to the upstream."""

    server: TcpRelay
    request: socket.socket

    @override
    def handle(self) -> None:
        """Pump bytes both ways, exchange by exchange, until somebody hangs up or is cut off."""
        self._number = next(self.server.connection_numbers)
        self._mode = self.server.mode
        self._framing = self.server.framing()
        self._exchange: _Exchange | None = None
        with (
            contextlib.suppress(OSError),
            socket.create_connection(self.server.upstream) as upstream,
        ):
            self._upstream = upstream
            for each in (self.request, upstream):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while self._step():
                pass
        self._close_exchange(answered=False)

    def _step(self) -> bool:
        """Wait for either side and pass on what it said; false when the connection is over."""
        waiting = [self.request, self._upstream]
        if self._exchange and self._exchange.asked and self._exchange.fault.holds_reply:
            waiting = [self._upstream]  # who lost patience still gets its answer written down
        ready, _, _ = select.select(waiting, [], [], UPSTREAM_SECONDS if self._exchange else None)
        if self._upstream in ready:
            return self._from_upstream(self._upstream.recv(PIECE))
        return self._from_client(self.request.recv(PIECE)) if ready else False

    def _from_client(self, data: bytes) -> bool:
        reply, data = self._framing.opening(data) if data else (b"", b"")
        self.request.sendall(reply)
        if not data:
            return bool(reply)
        asked = self._framing.asked(data)
        if self._exchange is None and not self._framing.exempt:
            self._exchange = _Exchange(self.server.next_fault(self._mode, data))
        exchange = self._exchange
        if exchange:
            exchange.request_bytes += len(data)
            exchange.asked = asked
            if exchange.fault is Fault.DROP_BEFORE:
                if asked:
                    self._close_exchange(answered=False)
                return not asked
        self._upstream.sendall(data)
        return True

    def _from_upstream(self, data: bytes) -> bool:
        complete = self._framing.answered(data)
        exchange = self._exchange
        if exchange is None or not exchange.fault.holds_reply:
            if exchange:
                exchange.reply_bytes += len(data)
                exchange.passed_bytes += len(data)
                if complete:
                    self._close_exchange(answered=True)
            self.request.sendall(data)
            return bool(data)
        exchange.held += data
        exchange.reply_bytes = len(exchange.held)
        if data and not complete:
            return True
        if exchange.fault is Fault.CUT_MID_REPLY:
            exchange.passed_bytes = max(min(self.server.keep_bytes, len(exchange.held) - 1), 0)
        if exchange.fault is Fault.TWICE:
            exchange.passed_bytes = len(exchange.held)
        part = exchange.held[: exchange.passed_bytes]
        self._close_exchange(answered=complete)
        if exchange.fault is Fault.HANG:
            self.request.settimeout(HANG_SECONDS)
            self.request.recv(1)  # nothing is said until the caller leaves, or asks on
        self.request.sendall(part * 2 if exchange.fault is Fault.TWICE else part)
        return exchange.fault is Fault.TWICE and bool(data)

    def _close_exchange(self, *, answered: bool) -> None:
        """Write down how the exchange ended; the next one may begin."""
        exchange = self._exchange
        if exchange is None:
            return
        self._exchange = None
        self.server.record(
            {
                "connection": self._number,
                "mode": exchange.fault,
                "forwarded": exchange.fault is not Fault.DROP_BEFORE,
                "answered": answered,
                "status": self._framing.status if answered else None,
                "request_bytes": exchange.request_bytes,
                "reply_bytes": exchange.reply_bytes,
                "passed_bytes": exchange.passed_bytes,
            }
        )


class _Exchange:
    """One request and its reply while they pass."""

    def __init__(self, fault: Fault) -> None:
        """Begin with nothing passed."""
        self.fault = fault
        self.asked = False
        self.held = b""
        self.request_bytes = self.reply_bytes = self.passed_bytes = 0
