"""What a kill matrix plays on: the relay, the provider behind it, and the rows that lead there.

Everything is registered through the operations anybody uses, in a ledger that is thrown away.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.catalog import GOOD
from ledger.models import Job
from ledger.operations.base import Answer, Caller
from ledger.operations.jobs import enqueue_job
from ledger.operations.policies import set_policy
from ledger.operations.registrations import add_key_spec, apply_deploy, save_effect, save_provider
from sweeper.classes import ProviderClass
from sweeper.errors import SweeperError
from sweeper.killmatrix.cells import BLIND, FORCED, HANDLE, NATIVE, Cell
from sweeper.killmatrix.effects import KEY_LIFETIME_SECONDS
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.relay import Relay
from sweeper.killmatrix.server import running
from sweeper.transport import request

LOOPBACK = ("127.0.0.1", 0)
SHOP = "kill-matrix"
"""The workflow whose effects all of them are."""
WHO: Mapping[str, Any] = {"actor": "command:killmatrix", "reason": "the kill matrix"}
LEASE, SETTLE, SWEEP_LEASE = 5, 2, 4
PATHS = {FORCED: "charges", HANDLE: "mail", BLIND: "hook"}
MOCK = "mock"


@dataclass
class Stage:
    """The relay, what is behind it, and how effects are counted there."""

    relay: Relay
    upstream: str
    mock: MockProvider | None

    @property
    def provider(self) -> str:
        """Name what the effects were counted at: a mock is called a mock."""
        return self.upstream if self.mock is None else MOCK

    def register(self, cells: Sequence[Cell]) -> None:
        """Register a provider and an effect for each cell, with short times."""
        for name, value in (("sweep_lease_s", SWEEP_LEASE), ("retry_backoff_s", 1)):
            _expect(set_policy(**WHO, name=name, value=value))
        _expect(apply_deploy(**WHO, workflow=SHOP, workflow_version="1", fields=[]))
        for cell in cells:
            self._register(cell)

    def _register(self, cell: Cell) -> None:
        forced = cell.class_ is FORCED
        _expect(
            save_provider(
                **WHO,
                name=cell.name,
                class_=cell.class_.value,
                lease_seconds=LEASE,
                settle_seconds=SETTLE,
                max_attempts=20,
                lookup_adapter="http_key" if forced else "webhook",
                lookup_config=self._config(cell.class_),
                key_ttl_seconds=KEY_LIFETIME_SECONDS if forced else None,
                lookup_by_reference=False if forced else None,
            )
        )
        delivery = "native" if cell.point.worker == NATIVE else "workflow_queue"
        effect: dict[str, Any] = {"name": cell.name, "workflow": SHOP, "provider": cell.name}
        _expect(save_effect(**WHO, **effect, delivery=delivery))
        _expect(add_key_spec(**WHO, effect=cell.name, fields=["id"]))

    def _config(self, class_: ProviderClass) -> dict[str, Any]:
        """Lead sends through the relay and questions past it."""
        url = f"{self.relay.url}/{PATHS[class_]}"
        reach: dict[str, Any] = {"allow_private": ["127.0.0.1"], "timeout_seconds": 5}
        if class_ is FORCED:
            return {**reach, "send": {"url": url, "add": {"reference": "{provider_key}"}}}
        named = {"headers": {self.relay.key_header: "{provider_key}"}}
        if class_ is BLIND:
            return {**reach, **named, "url": url, "add": {"key": "{provider_key}"}}
        log = f"{self.upstream}/{PATHS[class_]}?message_id={{handle}}"
        return {**reach, **named, "url": url, "add": {"message_id": "{handle}"}, "log_url": log}

    def enqueue(self, cell: Cell) -> None:
        """Put the cell's effect into the queue, and say what the relay does with its first send."""
        order: dict[str, Any] = {"event": {"id": "1"}, "payload": {"amount": 1}}
        job = enqueue_job(Caller(SHOP), effect=cell.name, **order)
        _expect(job)
        cell.job_id = str(job.job_id)
        cell.key = Job.objects.values_list("provider_key", flat=True).get(id=cell.job_id) or ""
        self.relay.set_mode_for(cell.key, cell.point.mode)

    def send_again(self, cell: Cell) -> None:
        """Send what the cell's worker sent, as somebody does who never heard of a ledger."""
        member = {FORCED: "reference", HANDLE: "message_id", BLIND: "key"}[cell.class_]
        body = {member: self._label(cell), "amount": 1}
        request(
            "POST",
            f"{self.relay.url}/{PATHS[cell.class_]}",
            headers={self.relay.key_header: cell.key, "Content-Type": "application/json"},
            body=json.dumps(body, separators=(",", ":")).encode(),
            allow_private=["127.0.0.1"],
        )

    def _label(self, cell: Cell) -> str:
        """Return what the provider knows the cell's effect by."""
        job = Job.objects.only("handle").get(id=cell.job_id)
        return (job.handle or "") if cell.class_ is HANDLE else cell.key

    def count(self, cell: Cell) -> None:
        """Count the effects of a cell where they happened, and find its lines in the log."""
        entries = [e for e in self.relay.journal.entries if e["key"] == cell.key]
        cell.relay_log = [entry["id"] for entry in entries]
        if self.mock is None:
            cell.effects = sum(_is_effect(entry) for entry in entries)
            return
        counts = self.mock.effects.counts()[PATHS[cell.class_]]["by_key"]
        cell.effects = int(counts.get(self._label(cell), 0))


def _is_effect(entry: Mapping[str, Any]) -> bool:
    """Say whether a line of the log is an effect: accepted, and not an answer given before."""
    status = entry["status"] or 0
    return bool(200 <= status < 300 and not entry.get("replayed") and entry["method"] != "GET")


@contextmanager
def stage(against: str, log: Path) -> Iterator[Stage]:
    """Run the relay in front of the mock, or of a provider at an address."""
    with ExitStack() as stack:
        mock = None
        if against == MOCK:
            mock = stack.enter_context(running(MockProvider(LOOPBACK)))
        upstream = mock.url if mock else against.rstrip("/")
        relay = stack.enter_context(running(Relay(LOOPBACK, upstream, log=log)))
        yield Stage(relay, upstream, mock)


def _expect(answer: Answer) -> None:
    if answer.outcome not in GOOD:
        raise SweeperError(f"the kill matrix could not be prepared: {answer}")
