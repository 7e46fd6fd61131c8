"""The rows a crashing turn works on, and the time that passes between two turns."""

import itertools
import json
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from ledger.models import Job, OutboxMessage, Run
from ledger.operations.base import Caller
from ledger.operations.jobs import enqueue_job
from ledger.operations.runs import start_run
from sweeper.killmatrix.relay import Mode
from tests.support.crashes.wire import KEY, Wire

CHARGE, ASKED, MAIL, HOOK = "charge", "asked", "mail", "hook"
PATHS = {CHARGE: "charges", ASKED: "charges", MAIL: "mail", HOOK: "hook"}
CLASSES = {
    CHARGE: "forced_unique",
    ASKED: "forced_unique",  # asked by reference, where the other is sent again
    MAIL: "advisory_handle",
    HOOK: "advisory_blind",
}
PROVIDER = """
INSERT INTO providers (name, class, lookup_adapter, lookup_config, settle_seconds,
    key_ttl_seconds, lookup_by_reference, max_attempts) VALUES (%s, %s, %s, %s, 900, %s, %s, 50)
"""
EFFECT = (
    "INSERT INTO effects (name, workflow, provider, delivery) VALUES (%s, 'shop', %s, 'native')"
)
KEY_SPEC = "INSERT INTO key_specs (effect, version, fields, canon) VALUES (%s, 1, '{id}', '{raw}')"

# Leases of workers, sweepers and ticks are over, settle windows too, and what waits is due.
LATER = """
UPDATE jobs SET lease_expires_at = now() - interval '1 hour',
    claimed_at = now() - interval '1 hour' - lease_seconds * interval '1 second',
    settle_until = least(settle_until, now())
    WHERE id = {job} AND state IN ('claimed', 'sweeping') AND lease_expires_at IS NOT NULL;
UPDATE jobs SET run_after = now() WHERE id = {job} AND state = 'queued' AND run_after > now();
UPDATE outbox SET next_attempt_at = now()
    WHERE published_at IS NULL AND given_up_at IS NULL AND next_attempt_at > now();
UPDATE failed_jobs SET next_retry_at = now() WHERE job_id = {job} AND state = 'open';
UPDATE runs SET terminal_first_seen_at = terminal_first_seen_at - interval '1 hour'
    WHERE id::text = {job} AND status = 'running';
UPDATE sweep_locks SET lease_expires_at = now() - interval '1 hour' WHERE token IS NOT NULL
"""
SETTLED = """
SELECT state IN ('done', 'review', 'abandoned') AND NOT EXISTS (
    SELECT FROM failed_jobs f WHERE f.job_id = j.id AND f.state IN ('open', 'retrying'))
FROM jobs j WHERE id = %(job)s
"""


@dataclass
class World:
    """One installation in which things crash."""

    wire: Wire
    owner: psycopg.Connection
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _messages_from: int = 0

    def register(self) -> None:
        """Insert the effects, and forget nothing of what is there."""
        self.owner.execute("INSERT INTO workflows (name) VALUES ('shop')")
        for effect, class_ in CLASSES.items():
            forced = class_ == "forced_unique"
            driver = "http_key" if forced else "webhook"
            config, ttl = json.dumps(self._config(effect)), 86_400 if forced else None
            row = [effect, class_, driver, config, ttl, effect == ASKED]
            self.owner.execute(PROVIDER, row)
            self.owner.execute(EFFECT, [effect, effect])
            self.owner.execute(KEY_SPEC, [effect])

    def _config(self, effect: str) -> dict[str, object]:
        url = f"{self.wire.url}/{PATHS[effect]}"
        reach: dict[str, object] = {"allow_private": ["127.0.0.1"], "timeout_seconds": 0.3}
        if CLASSES[effect] == "forced_unique":
            reach["send"] = {"url": url, "add": {"reference": "{provider_key}"}}
            if effect == ASKED:
                reach["look_up"] = {
                    "url": f"{url}?reference={{provider_key}}",
                    "items": "data",
                    "match": "reference",
                    "more": "has_more",
                }
            return reach
        reach |= {"url": url, "headers": {KEY: "{provider_key}"}}
        if effect == MAIL:
            log = {"log_url": f"{url}?message_id={{handle}}"}
            return reach | log | {"add": {"message_id": "{handle}"}}
        return reach | {"add": {"key": "{provider_key}"}}

    def attempts(self, effect: str, most: int) -> None:
        """Say how often an effect may be tried."""
        self.owner.execute("UPDATE providers SET max_attempts = %s WHERE name = %s", [most, effect])

    def later(self, job_id: str) -> None:
        """Let time pass for a job and all that belongs to it."""
        self.owner.execute(sql.SQL(LATER).format(job=sql.Literal(job_id)))

    # -- what a run begins with -----------------------------------------------------------------

    def queue(self, effect: str, mode: Mode) -> str:
        """Put an effect into the queue; say what happens to its first send."""
        self.wire.fresh()
        event = {"id": str(next(self._numbers))}
        job = enqueue_job(Caller("shop"), effect=effect, event=event, payload={"amount": 1})
        assert job.outcome == "inserted", job
        self.wire.mode_for(self.job(str(job.job_id)).provider_key or "", mode)
        return str(job.job_id)

    def begin_run(self, status: str, **execution: object) -> str:
        """Begin a run of which n8n says this; its deadline has passed."""
        number = next(self._numbers)
        self.wire.engine.add(number, status, **execution)
        begun = start_run(Caller("shop", execution_id=str(number)))
        assert begun.outcome == "won", begun
        self.owner.execute("UPDATE runs SET deadline_at = now() WHERE id = %s", [begun.run_id])
        return str(begun.run_id)

    def run(self, run_id: str) -> Run:
        """Read a run."""
        return Run.objects.get(id=run_id)

    def stops(self, run_id: str) -> int:
        """Count how often n8n was asked to stop a run."""
        return self.wire.engine.count(f"POST {self.run(run_id).external_execution_id}/stop")

    def state(self, name: str) -> str:
        """Return how a job or a run stands."""
        query = "SELECT state FROM jobs WHERE id = %(name)s"
        query += " UNION ALL SELECT status FROM runs WHERE id::text = %(name)s"
        ((state,),) = self.owner.execute(query, {"name": name}).fetchall()
        return str(state)

    def job(self, job_id: str) -> Job:
        """Read a job."""
        return Job.objects.defer("payload").get(id=job_id)

    # -- how it ends ----------------------------------------------------------------------------

    def is_settled(self, job_id: str) -> bool:
        """Say whether nothing of a job is undecided: neither itself nor its dead letter."""
        (row,) = self.owner.execute(SETTLED, {"job": job_id}).fetchall()
        return bool(row[0])

    def forget_messages(self) -> None:
        """Count every message of earlier runs as published."""
        self.owner.execute("UPDATE outbox SET published_at = now() WHERE published_at IS NULL")
        self._messages_from = OutboxMessage.objects.count()

    def message_keys(self, *, published: bool = False) -> list[str]:
        """Return the keys of this run's messages that were published, or that were not."""
        rows = OutboxMessage.objects.order_by("id")[self._messages_from :]
        return [f"{row.topic}:{row.key}" for row in rows if bool(row.published_at) is published]

    def judge(self, job_id: str, *, refused: int = 0) -> None:
        """Hold what was counted outside against what the class allows; a refused send is none."""
        job = self.job(job_id)
        label = job.handle if job.effect == MAIL else job.provider_key
        effects = self.wire.effects(PATHS[job.effect], label or "")
        sends = self.wire.sends(job.provider_key or "")
        told = (job_id, job.effect, job.state, effects, sends)
        if CLASSES[job.effect] == "forced_unique":
            assert (effects, job.state) == (1, "done"), told
        else:
            assert effects <= 1, told
            assert sends - refused <= 1, told
            assert effects == 1 or job.state == "review", told
