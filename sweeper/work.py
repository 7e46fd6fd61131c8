"""The native worker: sends queued effects that no workflow delivers, one at a time.

It is a worker like any other: it claims, marks, sends once and reports what it knows. What it
does not know it leaves to the sweeper, and it decides nothing about a second send.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from django.db import close_old_connections, connection

from ledger.errors import InvalidArgumentError, NotRecordedError
from ledger.models import Provider
from ledger.operations.base import Caller
from ledger.operations.jobs import (
    NextJob,
    claim_next_job,
    complete_job,
    fail_job,
    heartbeat_job,
    mark_sending,
    record_receipt,
)
from sweeper.errors import SweeperError
from sweeper.providers import base
from sweeper.providers.base import Identity, SendResult, Sent
from sweeper.stored import payload_bytes
from sweeper.ticks import me

logger = logging.getLogger(__name__)

WORKFLOW = "(native)"

# How long to look away from an empty queue, and from a database that is away.
IDLE_SECONDS = 1.0
AWAY_SECONDS = 2.0

# The result of a job whose provider answered nothing worth keeping.
ACCEPTED = {"accepted": True}

# Heartbeats fit this often into a lease, so that one lost on the way does no harm.
BEATS_A_LEASE = 4


class Ended(StrEnum):
    """What became of one turn of the worker."""

    IDLE = "idle"
    SENT = "sent"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Work:
    """One claimed job with all that a send needs."""

    caller: Caller
    job_id: str
    idem_key: str
    token: UUID
    lease_seconds: int
    driver: base.Driver
    config: base.Config
    payload: bytes


def run(stop: threading.Event, effect: str | None = None, workflow: str = WORKFLOW) -> None:
    """Work until told to stop, on one effect or on all; a send that has begun is finished first."""
    while not stop.is_set():
        close_old_connections()
        try:
            idle = work_once(effect, workflow) is Ended.IDLE
            pause = IDLE_SECONDS if idle else 0.0
        except NotRecordedError as error:
            # Nothing is known to be recorded: what was claimed or sent is the sweeper's now.
            logger.warning("work: %s", error)
            pause = AWAY_SECONDS
        except Exception:
            logger.exception("work: a job was left to the sweeper")
            pause = AWAY_SECONDS
        if pause:
            stop.wait(pause)


def work_once(effect: str | None = None, workflow: str = WORKFLOW) -> Ended:
    """Take the next job, if there is one, send it once and report."""
    caller = Caller(workflow, worker=me())
    job = claim_next_job(caller, owner_token=uuid4(), effect=effect, work=["*"])
    if job.outcome == "empty":
        return Ended.IDLE
    if job.outcome != "won":
        raise SweeperError(f"claim_next_job answered {job.outcome} {job.detail}")
    work = _prepare(caller, job)
    if work is None:
        return Ended.FAILED
    marked = mark_sending(
        caller, job_id=work.job_id, idem_key=work.idem_key, owner_token=work.token
    )
    if marked.outcome != "won" or marked.provider_key is None or marked.handle is None:
        logger.info("work: job %s was not marked: %s", work.job_id, marked.outcome)
        return Ended.LOST
    identity = Identity(work.job_id, marked.provider_key, marked.handle)
    with _heartbeats(work):
        result = base.send(work.driver, identity, work.payload, work.config)
    return _report(work, result)


def _prepare(caller: Caller, job: NextJob) -> Work | None:
    """Find driver and payload; without them the job is handed back before anything was marked."""
    job_id, token = str(job.job_id), job.owner_token
    if token is None:
        raise SweeperError("claim_next_job left the owner token empty")
    provider = Provider.objects.filter(name=job.provider).first()
    driver = base.load(provider.lookup_adapter) if provider is not None else None
    if provider is None or driver is None:
        fail_job(
            caller,
            job_id=job_id,
            owner_token=token,
            error=f"no driver here can send for the provider {job.provider!r}",
            effect_state="not_started",
        )
        return None
    config = provider.lookup_config
    return Work(
        caller=caller,
        job_id=job_id,
        idem_key=str(job.idem_key),
        token=token,
        lease_seconds=job.lease_seconds or 0,
        driver=driver,
        config=config if isinstance(config, Mapping) else {},
        payload=payload_bytes(job_id),
    )


@contextmanager
def _heartbeats(work: Work) -> Iterator[None]:
    """Renew the lease while a send takes long; a short send never beats."""
    done = threading.Event()

    def beat() -> None:
        try:
            while not done.wait(work.lease_seconds / BEATS_A_LEASE):
                heartbeat_job(work.caller, job_id=work.job_id, owner_token=work.token)
        except Exception:
            logger.exception("work: no heartbeat for job %s", work.job_id)
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _report(work: Work, result: SendResult) -> Ended:
    """Say what is known: the receipt first, then the end; unknown is left to the sweeper."""
    holder: dict[str, Any] = {"job_id": work.job_id, "owner_token": work.token}
    if result.outcome is not Sent.ACCEPTED:
        failed = fail_job(
            work.caller,
            **holder,
            error=result.reason or "the provider did not accept it",
            http_status=result.http_status,
            replayed=result.replayed,
            effect_state="rejected" if result.outcome is Sent.REJECTED else "unknown",
        )
        logger.info("work: job %s failed: %s, %s", work.job_id, result.reason, failed.next)
        return Ended.FAILED
    if result.provider_ref is not None:
        record_receipt(work.caller, **holder, provider_ref=result.provider_ref)
    completed = None
    for answer in (result.result, ACCEPTED):
        if answer is None or (completed is not None and completed.outcome != "invalid"):
            continue
        with suppress(InvalidArgumentError):  # an answer no database can hold
            completed = complete_job(
                work.caller,
                **holder,
                result=answer,
                http_status=result.http_status,
                provider_ref=result.provider_ref,
            )
    won = completed is not None and completed.outcome in ("won", "replay")
    return Ended.SENT if won else Ended.LOST
