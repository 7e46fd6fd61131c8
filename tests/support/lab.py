"""A small crash lab for tests: a relay in front of the mock provider, and a worker that can die.

Three effects of one workflow: ``charge`` (forced-unique), ``mail`` (advisory with a handle) and
``hook`` (advisory, blind). The worker stops wherever a test tells it to; effects are counted at
the provider, never here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings

from ledger.models import Job
from ledger.operations.base import Caller
from ledger.operations.jobs import claim_job, claim_next_job, complete_job, mark_sending
from sweeper.errors import ProviderUnavailableError
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.relay import Relay
from sweeper.killmatrix.server import running
from sweeper.transport import request

LOOPBACK = ("127.0.0.1", 0)
CALLER = Caller("shop", execution_id="41", worker="n8n-1")
KINDS = {"charge": "charges", "mail": "mail", "hook": "hook"}

PROVIDERS = """
INSERT INTO providers (name, class, lookup_adapter, lookup_config, settle_seconds,
                       key_ttl_seconds, lookup_by_reference, max_lookup_errors)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True)
class Claim:
    """A job in the hands of the lab's worker."""

    job_id: str
    idem_key: str
    token: UUID
    effect: str
    provider_key: str
    handle: str


@dataclass
class Lab:
    """Provider, relay and the rows that lead there."""

    provider: MockProvider
    relay: Relay
    owner: psycopg.Connection

    def claim(self, effect: str, number: int = 1, **more: Any) -> Claim:
        """Claim an event's effect as the workflow does."""
        event = {"id": f"{effect}-{number}"}
        payload = {"amount": number, "to": "ada@example.com"}
        job = claim_job(CALLER, effect=effect, event=event, payload=payload, **more)
        assert job.outcome == "won", job
        return self._claim(job, effect)

    def claim_next(self) -> Claim | None:
        """Take the next queued job as the workflow does."""
        job = claim_next_job(CALLER, work=["*"])
        return None if job.outcome == "empty" else self._claim(job, str(job.effect))

    @staticmethod
    def _claim(job: Any, effect: str) -> Claim:
        return Claim(
            job.job_id, job.idem_key, job.owner_token, effect, job.provider_key, job.handle
        )

    def mark(self, claim: Claim) -> None:
        """Mark the send."""
        marked = mark_sending(
            CALLER, job_id=claim.job_id, idem_key=claim.idem_key, owner_token=claim.token
        )
        assert marked.outcome == "won", marked

    def send(self, claim: Claim, mode: str = "forward-and-respond") -> int | None:
        """Send through the relay; None where no answer came back."""
        body = {"amount": 1, "reference": claim.provider_key, "message_id": claim.handle}
        headers = {"X-Relay-Mode": mode, "Idempotency-Key": claim.provider_key}
        url = f"{self.relay.url}/{KINDS[claim.effect]}"
        try:
            return request(
                "POST",
                url,
                headers=headers,
                body=json.dumps(body).encode(),
                allow_private=["127.0.0.1"],
            ).status
        except ProviderUnavailableError:
            return None

    def complete(self, claim: Claim) -> str:
        """Report the end."""
        result = {"ok": True}
        return complete_job(
            CALLER, job_id=claim.job_id, owner_token=claim.token, result=result
        ).outcome

    def work_off(self) -> int:
        """Do every queued job as a healthy worker would."""
        done = 0
        while (claim := self.claim_next()) is not None:
            self.mark(claim)
            self.send(claim)
            assert self.complete(claim) == "won"
            done += 1
        return done

    def effects(self, claim: Claim) -> int:
        """Count the effects of one job where they happened."""
        label = claim.handle if claim.effect == "mail" else claim.provider_key
        counts = self.provider.effects.counts()[KINDS[claim.effect]]["by_key"]
        return int(counts.get(label, 0))

    def job(self, claim: Claim) -> Job:
        """Read the job."""
        return Job.objects.get(id=claim.job_id)

    def expire(self, *claims: Claim) -> None:
        """Let leases, of workers and sweepers alike, have run out an hour ago."""
        self.owner.execute(
            "UPDATE jobs SET lease_expires_at = now() - interval '1 hour',"
            " claimed_at = now() - interval '1 hour' - lease_seconds * interval '1 second'"
            " WHERE id = ANY (%s) AND lease_expires_at IS NOT NULL",
            [[claim.job_id for claim in claims]],
        )

    def set_provider(self, name: str, **columns: Any) -> None:
        """Change a provider's row."""
        for column, value in columns.items():
            statement = f"UPDATE providers SET {column} = %s WHERE name = %s"  # noqa: S608
            self.owner.execute(statement, [value, name])

    def config(self, name: str) -> dict[str, Any]:
        """Return the driver configuration of a provider of the lab, through the relay."""
        config: dict[str, Any] = {"allow_private": ["127.0.0.1"], "timeout_seconds": 5}
        url = f"{self.relay.url}/{KINDS[name]}"
        if name == "charge":
            config["send"] = {"url": url, "add": {"reference": "{provider_key}"}}
            config["look_up"] = {
                "url": f"{url}?reference={{provider_key}}",
                "items": "data",
                "match": "reference",
                "more": "has_more",
            }
        elif name == "mail":
            config |= {"url": url, "add": {"message_id": "{handle}"}}
            config["log_url"] = f"{url}?message_id={{handle}}"
        else:
            config |= {"url": url, "add": {"key": "{provider_key}"}}
        return config


@contextmanager
def running_lab(owner: psycopg.Connection, delivery: str = "workflow_queue") -> Iterator[Lab]:
    """Run the servers and register what leads to them."""
    with (
        running(MockProvider(LOOPBACK)) as provider,
        running(Relay(LOOPBACK, provider.url)) as relay,
    ):
        lab = Lab(provider, relay, owner)
        owner.execute("INSERT INTO workflows (name) VALUES ('shop')")
        rows = [
            ("charge", "forced_unique", "http_key", 86_400, True),
            ("mail", "advisory_handle", "webhook", None, False),
            ("hook", "advisory_blind", "webhook", None, False),
        ]
        for name, kind, driver, lifetime, by_reference in rows:
            config = json.dumps(lab.config(name))
            owner.execute(PROVIDERS, [name, kind, driver, config, 900, lifetime, by_reference, 10])
            owner.execute(
                "INSERT INTO effects (name, workflow, provider, delivery)"
                " VALUES (%s, 'shop', %s, %s)",
                [name, name, delivery],
            )
            owner.execute(
                "INSERT INTO key_specs (effect, version, fields, canon)"
                " VALUES (%s, 1, '{id}', '{raw}')",
                [name],
            )
        yield lab


def manage_on(owner: psycopg.Connection, *command: str) -> "subprocess.Popen[str]":
    """Run a management command as the runtime role on the test database."""
    app, where = settings.DB_APP, owner.info
    login = f"{app['USER']}:{app['PASSWORD']}"
    url = f"postgresql://{login}@{where.host}:{where.port}/{where.dbname}"
    return subprocess.Popen(
        [sys.executable, "manage.py", *command],
        env=os.environ | {"DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
