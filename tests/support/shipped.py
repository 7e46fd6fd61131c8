"""The shipped workflows in a real n8n: installed as anybody installs them, delivered to, watched.

What a test changes of one is put there afterwards, as somebody would in n8n's editor: a schedule
becomes a webhook, the node of a foreign service a program that answers like it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import psycopg

from ledger.operations.decisions import decide_conflict
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from sweeper.n8n import templates
from sweeper.n8n.api import ApiError, webhooks
from sweeper.n8n.doors import HTTP_DOOR
from sweeper.n8n.install import Installer
from sweeper.n8n.lint.export import read
from sweeper.n8n.lint.flow import Flow
from sweeper.transport import Answer
from tests.support.engine import RealN8n
from tests.support.processes import wait_until
from tests.support.workflows import Node, Workflow, node

Change = Callable[[Workflow], None]
POSTED = """
SELECT conflict_id FROM ledger.post_conflict('{"workflow": "receive-decision",
    "kind": "stale_version", "target": "crm", "record_key": "7", "version_read": "1",
    "version_found": "2", "attempted": {"phone": "3"}, "base": {"phone": "1"},
    "current": {"phone": "2"}, "event": {"id": "e1"}}')
"""
KEPT = ("name", "nodes", "connections", "settings")


@dataclass
class Shipped:
    """An n8n with a console and a receiver, and what was installed into it."""

    n8n: RealN8n
    addresses: templates.Addresses
    receiver: MockProvider
    ids: dict[str, str] = field(default_factory=dict)
    delivered: Counter[str] = field(default_factory=Counter)

    def installer(self, **more: Any) -> Installer:
        """Return what `n8n install` uses."""
        return Installer(self.n8n.running.api, self.addresses.receiver, **more)

    def text(self, name: str) -> str:
        """Return a workflow's file."""
        return templates.text(name, self.addresses)

    def document(self, name: str) -> Workflow:
        """Return a workflow as it is installed, with no error workflow."""
        found = templates.document(name, self.addresses)
        if name != templates.ERRORS:
            found["settings"]["errorWorkflow"] = self.ids.get(templates.ERRORS, "none")
        return found

    def put(self, name: str, change: Change | None = None, provider: str | None = None) -> None:
        """Install one, change it in n8n, and let it run."""
        self.install(self.document(name), change, provider)

    def install(
        self, document: Workflow, change: Change | None = None, provider: str | None = None
    ) -> None:
        """Do so with a workflow that was changed before."""
        name = document["name"]
        self.ids[name] = self.installer(provider=provider).install(document).id
        if change is not None:
            change(document)
            self.edit(name, document)
        self.n8n.running.api.activate({**document, "id": self.ids[name]})

    def exchange(self, name: str, document: Workflow) -> None:
        """Put another version of a workflow that runs in its place, with nothing of the old left.

        n8n answers before it lets go of the old one, which would take the next delivery.
        """
        api = self.n8n.running.api
        api.call("POST", f"workflows/{self.ids[name]}/deactivate")
        wait_until(lambda: not any(map(api.listens, webhooks(document))), "the old one is gone")
        self.edit(name, document)
        api.activate({**document, "id": self.ids[name]})

    def edit(self, name: str, document: Workflow) -> None:
        """Write a workflow as n8n's editor would."""
        body = {key: document[key] for key in KEPT}
        self.n8n.running.api.call("PUT", f"workflows/{self.ids[name]}", body)

    def deliver(self, path: str, body: Any) -> Answer:
        """Deliver one event; nobody stays unanswered. A path is its workflow's name."""
        answer = self.n8n.deliver(path, body)
        self.delivered[path] += 1
        assert answer.status in (200, 202, 503), answer
        return answer

    def deliver_at_once(self, path: str, bodies: Iterable[Any]) -> list[Answer]:
        """Deliver several events at the same moment."""
        with ThreadPoolExecutor(20) as pool:
            return list(pool.map(lambda body: self.deliver(path, body), bodies))

    def begin_at_once(self, name: str, trigger: str, times: int) -> None:
        """Begin a workflow at its schedule by hand, many times at the same moment; wait for all."""

        def begin(_: int) -> str:
            begun = self.n8n.running.owner.call(
                "POST",
                f"workflows/{self.ids[name]}/run",
                {"triggerToStartFrom": {"name": trigger}},
            )
            return str(begun["executionId"])

        with ThreadPoolExecutor(times) as pool:
            executions = list(pool.map(begin, range(times)))
        for execution in executions:
            self.n8n.until(execution, "success")

    def effects(self) -> dict[str, int]:
        """Return how often each thing was sent, by its key."""
        found: dict[str, int] = self.receiver.effects.counts()["hook"]["by_key"]
        return found

    def executions(self, name: str) -> list[dict[str, Any]]:
        """Return the runs of a workflow with their data, once each delivery's is over.

        n8n lists no run that is under way.
        """

        def over() -> list[dict[str, Any]]:
            query = {"workflowId": self.ids[name], "includeData": "true"}
            found = list(self.n8n.running.api.every("executions", **query))
            return found if len(found) >= max(1, self.delivered[name]) else []

        return wait_until(over, f"the runs of {name} are over")

    def ran(self, name: str) -> set[str]:
        """Return the nodes that ran in any run of a workflow."""
        return {node for each in self.executions(name) for node in _runs(each)}

    def take_away(self) -> None:
        """Remove everything from n8n again."""
        api = self.n8n.running.api
        for workflow in self.ids.values():
            api.call("POST", f"workflows/{workflow}/deactivate")
            wait_until(lambda w=workflow: self._gone(w), "n8n lets go of it")
        for each in list(api.every("credentials")):
            if each["name"].startswith(f"{HTTP_DOOR}: "):
                api.call("DELETE", f"credentials/{each['id']}")

    def _gone(self, workflow: str) -> bool:
        """Delete a workflow; n8n refuses as long as it is still taking its webhooks down."""
        try:
            self.n8n.running.api.call("DELETE", f"workflows/{workflow}")
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True


@contextmanager
def shipped(n8n: RealN8n, console: str) -> Iterator[Shipped]:
    """Give a receiver and a way to install; leave nothing in n8n."""
    with running(MockProvider(("127.0.0.1", 0))) as receiver:
        found = Shipped(n8n, templates.Addresses(console, receiver.url), receiver)
        try:
            yield found
        finally:
            found.take_away()


def items(execution: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each item that left a node in a run, with the node."""
    for name, runs in _runs(execution).items():
        for each in runs:
            for output in (each.get("data") or {}).get("main", []):
                for item in output or []:
                    yield name, item["json"]


def _runs(execution: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = execution["data"]["resultData"]["runData"]
    return found


# -- what tests change ---------------------------------------------------------------------------


def named(document: Workflow, name: str) -> Node:
    """Return a node by its name."""
    return next(each for each in document["nodes"] if each["name"] == name)


def become(document: Workflow, name: str, made: Node) -> None:
    """Put another node in a node's place, under its name and with its error output."""
    old = named(document, name)
    kept = {key: old[key] for key in ("position", "onError") if key in old}
    old.clear()
    old.update({**made, **kept, "name": name})


def program(answer: str) -> Node:
    """Return a Code node that answers like a foreign service; ``answer`` is the item it gives."""
    code = f"return [{{ json: {answer}, pairedItem: 0 }}];"
    return node("", "code", 2, jsCode=code)


def hook(path: str) -> Node:
    """Return a webhook that answers with the last item, in place of a schedule."""
    made = node("", "webhook", 2, path=path, httpMethod="POST", responseMode="lastNode")
    return {**made, "webhookId": path}


def between(document: Workflow, before: str, after: str, *nodes: Node) -> None:
    """Put nodes onto the connection from one node's first output to another."""
    names = [before, *(each["name"] for each in nodes), after]
    wires = document["connections"]
    wires[before]["main"][0] = []
    for source, target in pairwise(names):
        outputs = wires.setdefault(source, {"main": [[]]})["main"]
        outputs[0] = [{"node": target, "type": "main", "index": 0}]
    document["nodes"].extend(nodes)


def flow(name: str) -> Flow:
    """Return a shipped workflow as the lint reads it."""
    text = (templates.FOLDER / f"{name}.json").read_text()
    return Flow(read(text, name)[0][0])


def parsed(answer: Answer) -> Any:
    """Return the JSON of an answer."""
    return json.loads(answer.whole_body())


def decided(owner_sql: psycopg.Connection) -> dict[str, Any]:
    """Let a person decide a conflict; return the message that tells of it."""
    row = owner_sql.execute(POSTED).fetchone()
    assert row is not None
    answer = decide_conflict(
        actor="ann",
        conflict_id=row[0],
        lock_version=1,
        decision="merge",
        reason="the number is right",
        changes={"phone": "3"},
        revision_seen="2",
    )
    assert answer.outcome == "won", answer
    return {"key": f"conflict:{row[0]}#2", "payload": {"conflict_id": row[0]}}
