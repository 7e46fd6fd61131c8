"""A fake n8n: the executions of its public API, as a real one answers, and as broken ones do.

``Engine`` is the state machine and the bodies, recorded from n8n 2.41.1 and 1.123.81; ``FakeN8n``
serves one on loopback, and misbehaves where a test says so.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from sweeper import reconcile
from sweeper.killmatrix.server import Handler, LoopbackServer, running

KEY = "n8n_api_fake"
HEADER = "X-N8N-API-KEY"
SCOPES = frozenset({"execution:read", "execution:stop"})
STOPPED = "2026-11-30T07:38:30.049Z"
ENDS = ("success", "error", "crashed", "canceled")
PREFIX = "/api/v1/executions/"
WORKFLOWS = "/api/v1/workflows/"
METADATA = "http://169.254.169.254/latest/meta-data/"

KEPT = {
    "storedAt": "db",
    "tracingContext": None,
    "deduplicationKey": None,
    "jsonSizeBytes": 2494,
    "binaryDataSizeBytes": 0,
    "workflowVersionId": "230807ef-4acb-44fa-9903-149c4bbcecf4",
    "usedPrivateCredentials": False,
}
"""What newer ones say of how they keep an execution."""

Reply = tuple[int, dict[str, Any]]


@dataclass
class Execution:
    """One execution. ``on_stop``: canceled at once, after some looks (``late``), or never."""

    status: str = "running"
    stopped_at: str | None = None
    on_stop: str = "cancel"
    looks_left: int = 0
    then: list["Execution"] = field(default_factory=list)
    """What it will be at the looks that follow."""

    def cancel(self) -> None:
        """End it as a stop does."""
        self.status, self.stopped_at = "canceled", STOPPED


class Engine:
    """What n8n knows and answers. ``flavour`` 1.123 has no stop."""

    def __init__(self, flavour: str = "2.41") -> None:
        """Begin without executions, under a key that may do both."""
        self.flavour = flavour
        self.scopes = set(SCOPES)
        self.executions: dict[str, Execution] = {}
        self.workflows: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []

    def add(self, number: int | str, status: str = "running", **more: Any) -> Execution:
        """Let an execution be; one that ended has a stop time."""
        if status in ENDS or status == "waiting":  # a pause sets the stop time, too
            more.setdefault("stopped_at", STOPPED)
        self.executions[str(number)] = execution = Execution(status, **more)
        return execution

    def count(self, call: str) -> int:
        """Count one call, such as ``POST 7/stop``."""
        return self.asked.count(call)

    def reply(self, method: str, path: str, key: str | None) -> Reply:
        """Answer one call."""
        new = self.flavour != "1.123"
        self.asked.append(f"{method} {path.removeprefix(PREFIX)}")
        number, _, verb = path.removeprefix(PREFIX).partition("/")
        if key != KEY:
            return 401, {"message": "Unauthorized" if new else "unauthorized"}
        if path.startswith(WORKFLOWS):
            found = self.workflows.get(path.removeprefix(WORKFLOWS))
            return (200, found) if found else (404, {"message": "Not Found"})
        if not path.startswith(PREFIX) or (verb and not (verb == "stop" and new)):
            return 404, {"message": "not found"}
        if f"execution:{verb or 'read'}" not in self.scopes:
            return 403, {"message": "Forbidden"}
        if not number.isdecimal() or (new and int(number) == 0):
            wrong = "executionId must be a positive integer" if new else "id must be number"
            return 400, {"message": f"request/params/{wrong}"}
        execution = self.executions.get(number)
        if execution is None:
            missing = "Failed to find execution to stop" if verb else "Not Found"
            return 404, {"message": missing}
        return self._stop(number, execution) if verb else self._look(number, execution)

    def _look(self, number: str, execution: Execution) -> Reply:
        if execution.on_stop == "late" and execution.looks_left:
            execution.looks_left -= 1
            if not execution.looks_left:
                execution.cancel()
        body = {
            "id": number,
            "finished": execution.status == "success",
            "mode": "webhook",
            "retryOf": None,
            "retrySuccessId": None,
            "status": execution.status,
            "createdAt": "2026-11-30T07:36:28.260Z",
            "startedAt": "2026-11-30T07:36:28.263Z",
            "stoppedAt": execution.stopped_at,
            "deletedAt": None,
            "workflowId": "qbzKng5LLeXfvzDg",
            "waitTill": "2026-11-30T07:40:56.809Z" if execution.status == "waiting" else None,
            **(KEPT if self.flavour != "1.123" else {}),
        }
        if execution.then:
            follows = execution.then.pop(0)
            execution.status, execution.stopped_at = follows.status, follows.stopped_at
        return 200, body

    def _stop(self, number: str, execution: Execution) -> Reply:
        if execution.status in ENDS:
            only = "Only running or waiting executions can be stopped"
            return 409, {"message": f"{only} and {number} is currently {execution.status}"}
        if execution.on_stop == "cancel":
            execution.cancel()
        elif execution.on_stop == "late":
            execution.looks_left = 2  # the look right after the stop still sees it run
        told = {"mode": "webhook", "startedAt": "2026-11-30T07:36:28.263Z", "stoppedAt": STOPPED}
        return 200, told | {"finished": False, "status": "canceled"}


class FakeN8n(LoopbackServer):
    """Serves an engine. ``fault`` is what happens to every call, ``faults`` to one execution's."""

    def __init__(self, flavour: str = "2.41") -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), _Calls)
        self.engine = Engine(flavour)
        self.fault: str | int | None = None
        self.faults: dict[str, str | int] = {}
        self.closing = threading.Event()
        self.pause = 0.0
        self.most_at_once = 0
        self._at_once, self._lock = 0, threading.Lock()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count who is asking at the same time."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self.closing.wait(self.pause)
            yield
        finally:
            with self._lock:
                self._at_once -= 1


Send = Callable[["_Calls", str], None]
FAULTS: Mapping[str, Send] = {
    "html": lambda call, _: call.answer_bytes(200, b"<h1>Welcome</h1>", {}),
    "list": lambda call, _: call.answer(200, [{"id": "7", "status": "success"}]),
    "huge": lambda call, number: call.answer(
        200, {"id": number, "status": "success", "data": "x" * 1_000_000}
    ),
    "deep": lambda call, _: call.answer_bytes(200, b"[" * 60_000, {}),
    "redirect": lambda call, _: call.answer_bytes(302, b"", {"Location": METADATA}),
    "other": lambda call, _: call.answer(
        200, {"id": "999", "status": "success", "stoppedAt": STOPPED}
    ),
    "no such page": lambda call, _: call.answer_bytes(404, b"<h1>404</h1>", {}),
    "hang": lambda call, _: call.hang(),
    "drop": lambda call, _: None,
    "cut": lambda call, number: call.cut(number),
}


class _Calls(Handler):
    """One call of the public API."""

    def respond(self, body: bytes) -> None:
        """Misbehave, or let the engine answer."""
        server = cast(FakeN8n, self.server)
        number = self.path.removeprefix(PREFIX).partition("/")[0]
        fault = server.faults.get(number, server.fault)
        if fault is None:
            with server.busy():
                reply = server.engine.reply(self.command, self.path, self.headers.get(HEADER))
            self.answer(*reply)
            return
        server.engine.asked.append(f"{self.command} {number} {fault}")
        if isinstance(fault, int):
            self.answer(fault, {"message": "Internal server error"})
            return
        self.close_connection = True
        FAULTS[fault](self, number)

    def hang(self) -> None:
        """Say nothing for as long as the server runs."""
        cast(FakeN8n, self.server).closing.wait(30)

    def cut(self, number: str) -> None:
        """Promise more than comes."""
        self.send_response(200)
        self.send_header("Content-Length", "500")
        self.end_headers()
        self.wfile.write(b'{"id": "%s", "status": "success"' % number.encode())


@contextmanager
def serving(flavour: str = "2.41") -> Iterator[FakeN8n]:
    """Serve one for the length of a block."""
    with running(FakeN8n(flavour)) as server:
        try:
            yield server
        finally:
            server.closing.set()


def register(patch: pytest.MonkeyPatch, settings: Any, **urls: str) -> None:
    """Let this installation know instances by their names, each under the same key.

    No tick of an earlier test is left to be told: a process remembers those that it skipped.
    """
    patch.setattr(reconcile, "_skipped", Counter())
    settings.LANDED_N8N = [f"{name}={url}" for name, url in urls.items()]
    settings.LANDED_PRIVATE_HOSTS = ["127.0.0.1"]
    for name in urls:
        patch.setenv(f"LANDED_SECRET_N8N_{name.upper()}", KEY)
