"""A real n8n for tests: booted once for all of them, and small ways to use it.

The shape of its answers is not here: that is what the contract tests are about.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, override

import pytest

from ledger import guests
from sweeper.killmatrix.server import Handler, LoopbackServer
from sweeper.n8n.engine import own, packages
from sweeper.n8n.engine.home import Home
from sweeper.n8n.engine.process import free_port
from sweeper.n8n.instances import Instance
from sweeper.transport import Answer, Limits, request
from tests.support.database import database
from tests.support.workflows import Workflow

PATIENCE = 60
LOOPBACK = ["127.0.0.1"]


def fetch_or_skip() -> None:
    """Have the packages; without them skip, and say how to get them, or fail where CI is set."""
    if packages.installed():
        return
    if os.environ.get("CI"):
        packages.install()  # or wait for who is at it
        return
    pytest.skip("n8n is not installed; once: python3 manage.py n8n fetch")


@dataclass
class RealN8n:
    """The n8n, its home and what a test asks of it."""

    running: own.Running
    home: Home

    @property
    def url(self) -> str:
        """Return its address."""
        return self.running.engine.url

    @property
    def instance(self) -> Instance:
        """Return it as the console knows it."""
        return self.home.console(self.url)

    def deploy(self, workflow: Workflow) -> str:
        """Install a workflow with its credentials, let it take deliveries, return its id."""
        api = self.running.api
        known = {(each["type"], each["name"]): each["id"] for each in api.every("credentials")}
        for node in workflow["nodes"]:
            for kind, credential in node.get("credentials", {}).items():
                credential["id"] = known[kind, credential["name"]]
        made = api.call("POST", "workflows", workflow)
        api.activate(made)
        return str(made["id"])

    def deliver(self, path: str, body: Any = None) -> Answer:
        """Deliver an event to a workflow."""
        return request(
            "POST",
            f"{self.url}/webhook/{path}",
            headers={"Content-Type": "application/json"},
            body=json.dumps(body or {}).encode(),
            allow_private=LOOPBACK,
            limits=Limits(seconds=PATIENCE),
        )

    def begin(self, path: str, body: Any = None) -> dict[str, str]:
        """Deliver an event; return which execution it began, and where a pause is ended."""
        answer = self.deliver(path, body)
        assert answer.status == 200, answer
        said: dict[str, str] = json.loads(answer.whole_body())
        return said

    def ask(self, method: str, path: str, key: str) -> tuple[int, Any]:
        """Call the public API as it is; return the status and the document."""
        answer = request(
            method,
            f"{self.url}/api/v1/{path}",
            headers={"X-N8N-API-KEY": key, "Accept": "application/json"},
            allow_private=LOOPBACK,
        )
        return answer.status, json.loads(answer.whole_body())

    def status(self, execution: str) -> str:
        """Return n8n's word about an execution."""
        key = self.home.setup(self.url).api_key()
        status, said = self.ask("GET", f"executions/{execution}", key)
        return str(said["status"]) if status == 200 else str(status)

    def until(self, execution: str, *wanted: str) -> str:
        """Wait until n8n says one of these of an execution."""
        return until(lambda: self.status(execution), *wanted)


def until(look: Callable[[], str], *wanted: str) -> str:
    """Wait until a look says one of these."""
    deadline = time.monotonic() + PATIENCE
    while (seen := look()) not in wanted:
        assert time.monotonic() < deadline, f"still {seen}, not {wanted}"
        time.sleep(0.05)
    return seen


@contextmanager
def booted(home: Path) -> Iterator[RealN8n]:
    """Boot one beside this process's test database; leave neither it nor its database behind."""
    name = f"n8n_{database()}"
    kept = Home(home)
    door = f"{name}_door"
    running = own.run(kept, free_port(), database=name, login=name, door_login=door)
    try:
        yield RealN8n(running, kept)
    finally:
        running.engine.kill()
        guests.take_database(name)
        guests.dismiss(name)
        guests.dismiss(door)


class Gate(LoopbackServer):
    """A server that keeps who calls ``/hold/NAME`` waiting until the test opens the gate."""

    def __init__(self) -> None:
        """Listen, shut."""
        self.came: dict[str, threading.Event] = {}
        self.opened = threading.Event()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Held)

    def arrival(self, name: str) -> threading.Event:
        """Return what is set once somebody of this name waits."""
        with self._lock:
            return self.came.setdefault(name, threading.Event())

    def wait_for(self, name: str) -> None:
        """Wait until somebody of this name waits."""
        assert self.arrival(name).wait(PATIENCE), f"{name} did not come"


class _Held(Handler):
    @override
    def respond(self, body: bytes) -> None:
        gate = cast(Gate, self.server)
        gate.arrival(self.path.rpartition("/")[2]).set()
        gate.opened.wait(PATIENCE)
        self.answer(200, {"opened": True})
