"""The same situations in the fake n8n and in the real one, for the contract that both must keep."""

import itertools
import json
from typing import Any, Protocol

import pytest

from sweeper.n8n.instances import Instance
from sweeper.transport import request
from tests.support import n8n, workflows
from tests.support.engine import LOOPBACK, Gate, RealN8n
from tests.support.n8n import KEY, SCOPES, FakeN8n

SITUATIONS = ("running", "success", "error", "canceled", "waiting", "after a pause")
"""Executions that n8n knows."""
UNKNOWN = ("not saved", "deleted", "never was")
"""And those it does not, any more or at all; asked of an n8n that has a workflow by then.

One without any says a plain "Not Found" to a stop, too, which the client reads the same.
"""


class Stage(Protocol):
    """One n8n with a way to bring executions about."""

    def execution(self, situation: str) -> str:
        """Return the id of an execution in a situation."""

    def key(self, *scopes: str) -> str:
        """Return a key that may do just that."""

    def instance(self, key: str) -> Instance:
        """Return it as the console knows it, under a key."""

    def ask(self, method: str, path: str, key: str) -> tuple[int, Any]:
        """Call the public API."""


class FakeStage:
    """The fake, whose executions are what a test says."""

    def __init__(self, fake: FakeN8n, patch: pytest.MonkeyPatch, settings: Any) -> None:
        """Let the console know it."""
        self._fake, self._patch = fake, patch
        self._numbers = itertools.count(7)
        n8n.register(patch, settings, default=fake.url)

    def execution(self, situation: str) -> str:
        """Say that there is one."""
        number = str(next(self._numbers))
        if situation == "after a pause":
            self._fake.engine.add(number, "running", stopped_at=n8n.STOPPED)
        elif situation not in UNKNOWN:
            self._fake.engine.add(number, situation)
        return number

    def key(self, *scopes: str) -> str:
        """Let its one key have just these."""
        self._fake.engine.scopes = set(scopes or SCOPES)
        return KEY

    def instance(self, key: str) -> Instance:
        """Put the key where the console reads it."""
        instance = Instance("default", self._fake.url)
        self._patch.setenv(instance.variable, key)
        return instance

    def ask(self, method: str, path: str, key: str) -> tuple[int, Any]:
        """Call it over HTTP."""
        answer = request(
            method,
            f"{self._fake.url}/api/v1/{path}",
            headers={"X-N8N-API-KEY": key},
            allow_private=LOOPBACK,
        )
        return answer.status, json.loads(answer.whole_body())


class RealStage:
    """The real one, where each situation is a workflow that gets there."""

    def __init__(self, real: RealN8n, gate: Gate, prefix: str, patch: pytest.MonkeyPatch) -> None:
        """Take what executions wait at; ``prefix`` keeps the paths of this test its own."""
        self._real, self._gate, self._prefix, self._patch = real, gate, prefix, patch

    def execution(self, situation: str) -> str:
        """Bring one about."""
        match situation:
            case "never was":
                return "999999"
            case "running" | "canceled":
                return self._held(situation)
            case "waiting" | "after a pause":
                return self._paused(situation)
            case "error":
                return self._ended("error", workflows.stop_and_error())
            case "not saved":
                return self._ended("404", saveDataSuccessExecution="none")
        execution = self._ended("success")
        if situation == "deleted":
            self.ask("DELETE", f"executions/{execution}", self.key())
        return execution

    def _ended(self, word: str, *nodes: workflows.Node, **settings: Any) -> str:
        path = self._deploy(word, *nodes, **settings)
        execution = self._real.begin(path)["execution"]
        self._real.until(execution, word)
        return execution

    def _held(self, situation: str) -> str:
        name = f"{self._prefix}-{situation}".replace(" ", "-")
        held = workflows.http("Hold", f"{self._gate.url}/hold/{name}")
        execution = self._real.begin(self._deploy(situation, held))["execution"]
        self._gate.wait_for(name)
        if situation == "canceled":
            status, _ = self.ask("POST", f"executions/{execution}/stop", self.key())
            assert status == 200
        return execution

    def _paused(self, situation: str) -> str:
        name = f"{self._prefix}-{situation}".replace(" ", "-")
        held = workflows.http("Hold", f"{self._gate.url}/hold/{name}")
        path = self._deploy(situation, workflows.pause_for_call(), held)
        began = self._real.begin(path)
        self._real.until(began["execution"], "waiting")
        if situation == "after a pause":
            resumed = request("GET", began["resume"], allow_private=LOOPBACK)
            assert resumed.status == 200, resumed
            self._gate.wait_for(name)
        return began["execution"]

    def _deploy(self, name: str, *nodes: workflows.Node, **settings: Any) -> str:
        path = f"{self._prefix}-{name}".replace(" ", "-")
        self._real.deploy(workflows.chain(path, *nodes, **settings))
        return path

    def key(self, *scopes: str) -> str:
        """Make one in n8n; the one that installs workflows may do everything."""
        if not scopes:
            return self._real.home.setup(self._real.url).api_key()
        return self._real.running.owner.make_key("contract", list(scopes))

    def instance(self, key: str) -> Instance:
        """Put the key where the console reads it."""
        instance = Instance("default", self._real.url)
        self._patch.setenv(instance.variable, key)
        return instance

    def ask(self, method: str, path: str, key: str) -> tuple[int, Any]:
        """Call it over HTTP."""
        return self._real.ask(method, path, key)
