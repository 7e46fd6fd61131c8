"""Recovery: the lock of a tick, expired jobs and what becomes of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.operations._call import call, call_many
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class SweepLock(Answer):
    """Who runs this tick, and until when."""

    token: UUID | None
    fence: int | None
    lease_expires_at: datetime | None
    detail: Detail


def take_sweep_lock(
    *, actor: str, name: str, owner_token: UUID | None = None, lease_seconds: int | None = None
) -> SweepLock:
    """Be the one that runs this tick until the lease ends; the fence only grows."""
    argument = {
        "actor": actor,
        "name": name,
        "owner_token": owner_token,
        "lease_seconds": lease_seconds,
    }
    return call("take_sweep_lock", argument, SweepLock)


@dataclass(frozen=True, slots=True)
class ReleasedLock(Answer):
    """Whether the tick still held its lock when it ended."""

    detail: Detail


def release_sweep_lock(
    *,
    actor: str,
    name: str,
    token: UUID,
    succeeded: bool,
    report: dict[str, Any] | None = None,
    interval_seconds: int | None = None,
    jitter_seconds: int | None = None,
    host: str | None = None,
) -> ReleasedLock:
    """The tick is over; proof of life is written here, as its last act."""
    argument = {
        "actor": actor,
        "name": name,
        "token": token,
        "succeeded": succeeded,
        "report": report,
        "interval_seconds": interval_seconds,
        "jitter_seconds": jitter_seconds,
        "host": host,
    }
    return call("release_sweep_lock", argument, ReleasedLock)


@dataclass(frozen=True, slots=True)
class ExpiredJob(Answer):
    """One job taken over, with every fact a decision needs; or ``empty``."""

    job_id: str | None
    idem_key: str | None
    version: int | None
    workflow: str | None
    effect: str | None
    provider: str | None
    driver: str | None
    config: Any
    provider_key: str | None
    handle: str | None
    provider_ref: str | None
    recovery_class: str | None
    marked: bool | None
    may_redrive: bool | None
    may_retake: bool | None
    attempts_left: bool | None
    settled: bool | None
    positive: bool | None
    error_replayed: bool | None
    absent: bool | None
    lookups_exhausted: bool | None
    superseded_by: str | None
    lookups: int | None
    lookup_errors: int | None
    send_no: int | None
    settle_until: datetime | None
    lease_expires_at: datetime | None
    owner_token: UUID | None
    detail: Detail


def take_expired_jobs(
    *,
    actor: str,
    owner_token: UUID | None = None,
    limit: int | None = None,
    provider: str | None = None,
) -> list[ExpiredJob]:
    """Take over claims whose lease ran out, and sweeps whose sweeper died."""
    argument = {"actor": actor, "owner_token": owner_token, "limit": limit, "provider": provider}
    return call_many("take_expired_jobs", argument, ExpiredJob)


@dataclass(frozen=True, slots=True)
class DecidedJob(Answer):
    """The state the job is in now."""

    state: str | None
    conflict_id: int | None
    version: int | None
    detail: Detail


def decide_job(
    *,
    actor: str,
    job_id: str,
    owner_token: UUID,
    expected_version: int,
    decision: str,
    reason: str,
    look_again_at: datetime | None = None,
) -> DecidedJob:
    """End the uncertainty of an expired job: done, requeue, review, or wait and look again."""
    argument = {
        "actor": actor,
        "job_id": job_id,
        "owner_token": owner_token,
        "expected_version": expected_version,
        "decision": decision,
        "reason": reason,
        "look_again_at": look_again_at,
    }
    return call("decide_job", argument, DecidedJob)


@dataclass(frozen=True, slots=True)
class AddedEvidence(Answer):
    """The evidence row, and the version of the job after it."""

    evidence_id: int | None
    version: int | None
    detail: Detail


def add_evidence(
    *,
    actor: str,
    job_id: str,
    kind: str,
    source: str,
    provider_ref: str | None = None,
    body: Any = None,
) -> AddedEvidence:
    """Keep what a provider answered about a job; look-ups are counted while it is swept."""
    argument = {
        "actor": actor,
        "job_id": job_id,
        "kind": kind,
        "source": source,
        "provider_ref": provider_ref,
        "body": body,
    }
    return call("add_evidence", argument, AddedEvidence)


@dataclass(frozen=True, slots=True)
class LookedAgain(Answer):
    """The evidence row of a look-up a person asked for."""

    evidence_id: int | None
    detail: Detail


def look_again(
    *,
    actor: str,
    job_id: str,
    kind: str,
    source: str,
    provider_ref: str | None = None,
    body: Any = None,
) -> LookedAgain:
    """A person asked the provider now; the answer is evidence and moves nothing."""
    argument = {
        "actor": actor,
        "job_id": job_id,
        "kind": kind,
        "source": source,
        "provider_ref": provider_ref,
        "body": body,
    }
    return call("look_again", argument, LookedAgain)


@dataclass(frozen=True, slots=True)
class Promoted(Answer):
    """How many rows became visible in the queue."""

    n: int | None
    opened: int | None
    stamped: int | None
    detail: Detail


def promote_conflicts(*, actor: str, limit: int | None = None) -> Promoted:
    """What waits longer than it should becomes visible in the queue."""
    return call("promote_conflicts", {"actor": actor, "limit": limit}, Promoted)
