"""What the relays and the mock provider share: a bounded server on loopback and a journal."""

import contextlib
import ipaddress
import json
import signal
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler
from typing import Any, override

LARGEST_BODY = 1_048_576
MOST_THREADS = 64
MOST_ENTRIES = 100_000  # kept in memory; the file has all
SECONDS_A_REQUEST = 30


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """Ends a request with a status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        """Keep what to answer."""
        super().__init__(message)
        self.status = status


class Journal:
    """Lines of JSON in a file, or in memory only; complete lines survive a kill."""

    def __init__(self, path: Path | None = None) -> None:
        """Read what is there; a line cut off by a kill is dropped."""
        self._lock = threading.Lock()
        self.entries: deque[dict[str, Any]] = deque(maxlen=MOST_ENTRIES)
        self._file = None
        if path is None:
            return
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        self.entries.extend(json.loads(line) for line in whole.splitlines())
        self._file = path.open("ab")
        self._file.truncate(len(whole))

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one entry and hand it to the operating system before returning."""
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            if self._file is not None:
                self._file.write(line)
                self._file.flush()
            self.entries.append(dict(entry))

    def close(self) -> None:
        """Close the file; everything is in it already."""
        if self._file is not None:
            self._file.close()


class LoopbackServer(ThreadingHTTPServer):
    """A threaded server that only this machine can reach, with a bound on its threads."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseRequestHandler]) -> None:
        """Listen, or refuse an address others could reach."""
        if not ipaddress.ip_address(address[0]).is_loopback:
            raise ValueError(f"{address[0]} is not a loopback address")
        self._slots = threading.BoundedSemaphore(MOST_THREADS)
        super().__init__(address, handler)

    @property
    def url(self) -> str:
        """Return the base URL, with the port the system chose."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        self._slots.acquire()
        super().process_request(request, client_address)

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is everyday life here."""


class Handler(BaseHTTPRequestHandler):
    """Reads bounded requests and answers JSON; a subclass says what to in ``respond``."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS_A_REQUEST
    server_version = "landed-lab"

    def respond(self, body: bytes) -> None:
        """Treat one request."""
        raise NotImplementedError

    def handle_any(self) -> None:
        """Read the body, treat the request, and say it where it is refused."""
        try:
            self.respond(self._body())
        except Refused as refused:
            self.answer(refused.status, {"error": {"message": str(refused)}})

    # The names http.server calls.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def _body(self) -> bytes:
        """Read the request's body, of bounded size."""
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError as error:
            raise Refused(400, "Content-Length is not a number") from error
        if self.headers.get("Transfer-Encoding") or not 0 <= length <= LARGEST_BODY:
            self.close_connection = True
            raise Refused(413, f"send a Content-Length of at most {LARGEST_BODY}")
        return self.rfile.read(length)

    def json_object(self, body: bytes) -> dict[str, Any]:
        """Read a body that is a JSON object."""
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"the body is not JSON: {error}") from error
        if not isinstance(document, dict):
            raise Refused(400, "the body is not a JSON object")
        return document

    def answer(self, status: int, document: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON."""
        self.answer_bytes(
            status,
            json.dumps(document).encode(),
            {"Content-Type": "application/json", **(headers or {})},
        )

    def answer_bytes(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with bytes as they are."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet; the journal is the log."""


@contextmanager
def running[Server: LoopbackServer](server: Server) -> Iterator[Server]:
    """Serve in a thread for the length of a block."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def listen_address(text: str) -> tuple[str, int]:
    """Read host:port."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise ValueError(f"{text!r} is not host:port")
    return host.strip("[]") or "127.0.0.1", int(port)


def serve_until_stopped(server: LoopbackServer) -> None:
    """Serve until Ctrl-C or a SIGTERM, then close what is open."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever(poll_interval=0.2)
    server.server_close()
