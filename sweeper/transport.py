"""The one way out for HTTP: every call to a provider or an engine is made here.

The connection goes where ``addresses`` allows. Redirects are not followed, proxies from the
environment are not used, and time and size are capped for the whole call, not per read. Nothing
here knows what a provider is.
"""

import socket
import ssl
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, override

import httpcore2
import httpx2

from ledger.crash import crash_point
from sweeper.addresses import Deadline, connect, is_allowed
from sweeper.errors import (
    LookupInconclusiveError,
    ProviderRejectedError,
    ProviderUnavailableError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long one call may take from resolving to the last byte, and how much it may read."""

    seconds: float = 15.0
    max_bytes: int = 1_048_576


DEFAULT_LIMITS = Limits()

# TimeoutError, ConnectionError and ssl.SSLError are OSErrors.
NETWORK_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    OSError,
)

# Headers that say where a message starts and ends are written here and nowhere else.
FRAMING_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. ``problem`` says why the body is not whole, the status stands anyway."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    problem: str | None = None

    def whole_body(self) -> bytes:
        """Return the body, or refuse to judge by a part of it."""
        if self.problem is not None:
            raise LookupInconclusiveError(self.problem)
        if self.headers.get("content-encoding", "identity") != "identity":
            raise LookupInconclusiveError("the answer is compressed although that was not asked")
        return self.body


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    allow_private: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Answer:
    """Make one HTTP call and return its answer, whatever its status.

    ``allow_private`` names the hosts (``host`` or ``host:port``) that may be private addresses
    or plain http. Raises ProviderRejectedError where nothing may be sent at all, and
    ProviderUnavailableError, with ``sent``, where no status came back.
    """
    target = check_url(url, allow_private)
    all_headers = _headers(target, headers or {})
    wire = _PinnedBackend(Deadline(limits.seconds), allow_private)
    crash_point("http.before")
    try:
        with (
            httpcore2.ConnectionPool(
                ssl_context=tls_context(), network_backend=wire, max_keepalive_connections=0
            ) as pool,
            pool.stream(method, _as_parsed(target), headers=all_headers, content=body) as response,
        ):
            answer_headers = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers
            }
            content, problem = _read(response.iter_stream(), limits)
            crash_point("http.answered")
            return Answer(response.status, answer_headers, content, problem)
    except NETWORK_ERRORS as error:
        if isinstance(error, httpcore2.LocalProtocolError) and not wire.sent:
            raise ProviderRejectedError(f"the request is not valid HTTP: {error}") from error
        crash_point("http.failed")
        raise ProviderUnavailableError(
            f"{target.host}: {_reason(error, limits)}", sent=wire.sent
        ) from error


def check_url(url: str, allow_private: Collection[str] = ()) -> httpx2.URL:
    """Read the URL strictly, before anything is resolved; refuse what is never called."""
    try:
        target = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError, ValueError) as error:
        raise ProviderRejectedError(f"not a URL: {error}") from error
    if target.scheme not in ("http", "https") or not target.host:
        raise ProviderRejectedError(f"only http and https URLs with a host are called: {url!r}")
    if target.userinfo:
        raise ProviderRejectedError("credentials do not belong into a URL; use a header")
    port = target.port or (443 if target.scheme == "https" else 80)
    if target.scheme == "http" and not is_allowed(target.host, port, allow_private):
        raise ProviderRejectedError(
            f"{target.host} is called over plain http only if allow_private names it"
        )
    return target


def _as_parsed(target: httpx2.URL) -> httpcore2.URL:
    """Hand over the parts, so that no second parser can read another host out of the text."""
    return httpcore2.URL(
        scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path
    )


def _headers(target: httpx2.URL, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Add the headers every call carries; refuse those that would reframe the message."""
    if refused := FRAMING_HEADERS & {name.lower() for name in headers}:
        raise ProviderRejectedError(f"the header {min(refused)} is not configurable")
    merged = {"Accept-Encoding": "identity", "User-Agent": "landed", **headers}
    merged["Host"] = target.netloc.decode("ascii")
    try:
        return [(name.encode("ascii"), value.encode("ascii")) for name, value in merged.items()]
    except UnicodeEncodeError as error:
        raise ProviderRejectedError(f"headers carry plain ASCII only: {error}") from error


def _read(chunks: Iterable[bytes], limits: Limits) -> tuple[bytes, str | None]:
    """Read up to the cap; what breaks after the status is a problem of the body only."""
    content, max_bytes = bytearray(), limits.max_bytes
    try:
        for chunk in chunks:
            content += chunk
            if len(content) > max_bytes:
                return bytes(content[:max_bytes]), f"the answer is larger than {max_bytes} bytes"
    except NETWORK_ERRORS as error:
        return bytes(content), f"the answer broke off: {_reason(error, limits)}"
    return bytes(content), None


def _reason(error: BaseException, limits: Limits) -> str:
    """Say what went wrong in words that name the limit where it was one."""
    if isinstance(error, TimeoutError | httpcore2.TimeoutException) and "within" not in str(error):
        return f"no complete answer within {limits.seconds:g} s"
    return str(error) or type(error).__name__


@cache
def tls_context() -> ssl.SSLContext:
    """Return the shared context: certificates and host names are always checked."""
    return httpx2.create_ssl_context()


@dataclass
class _PinnedBackend(httpcore2.NetworkBackend):
    """Connects where ``connect`` allows, and remembers whether a byte has left."""

    deadline: Deadline
    allow_private: Collection[str]
    sent: bool = field(default=False)

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        connection = connect(host.strip("[]"), port, self.deadline, self.allow_private)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _BoundedStream(connection, self)


class _BoundedStream(httpcore2.NetworkStream):
    """A socket whose every wait is cut at the deadline of the call."""

    def __init__(self, connection: socket.socket, wire: _PinnedBackend) -> None:
        self._socket = connection
        self._wire = wire

    @override
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._socket.settimeout(self._wire.deadline.left())
        return self._socket.recv(max_bytes)

    @override
    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        self._socket.settimeout(self._wire.deadline.left())
        self._wire.sent = True
        try:
            self._socket.sendall(buffer)
        except ConnectionError as error:
            # Under this name the caller still reads the answer of a server that hung up early.
            raise httpcore2.WriteError(str(error)) from error
        crash_point("http.sent")

    @override
    def close(self) -> None:
        self._socket.close()

    @override
    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        self._socket.settimeout(self._wire.deadline.left())
        try:
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except BaseException:
            self._socket.close()
            raise
        return _BoundedStream(secured, self._wire)

    @override
    def get_extra_info(self, info: str) -> Any:
        return self._socket if info == "socket" else None
