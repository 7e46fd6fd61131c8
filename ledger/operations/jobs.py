"""Jobs: claim, send, complete. Each name is a database function with the same promises."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.operations._call import call
from ledger.operations._json import required
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class ClaimedJob(Answer):
    """The claim that was won, or the answer stored for the key."""

    job_id: str | None
    idem_key: str | None
    owner_token: UUID | None
    version: int | None
    provider_key: str | None
    handle: str | None
    effect_version: int | None
    attempts: int | None
    lease_expires_at: datetime | None
    marker_at: datetime | None
    result: Any
    http_status: int | None
    detail: Detail


def claim_job(
    caller: Caller,
    *,
    effect: str,
    event: dict[str, Any],
    payload: Any,
    payload_text: str | None = None,
    effect_version: int | None = None,
    owner_token: UUID | None = None,
    serial_key: str | None = None,
    lease_seconds: int | None = None,
) -> ClaimedJob:
    """Take the one claim of an event's effect, or hear exactly why not."""
    argument = caller.argument(
        effect=effect,
        event=event,
        payload=required(payload),
        payload_text=payload_text,
        effect_version=effect_version,
        owner_token=owner_token,
        serial_key=serial_key,
        lease_seconds=lease_seconds,
    )
    return call("claim_job", argument, ClaimedJob)


@dataclass(frozen=True, slots=True)
class EnqueuedJob(Answer):
    """The job that stands for the event, new or old."""

    job_id: str | None
    idem_key: str | None
    state: str | None
    effect_version: int | None
    run_after: datetime | None
    result: Any
    http_status: int | None
    detail: Detail


def enqueue_job(
    caller: Caller,
    *,
    effect: str,
    event: dict[str, Any],
    payload: Any,
    payload_text: str | None = None,
    effect_version: int | None = None,
    serial_key: str | None = None,
    run_after: datetime | None = None,
    owner_token: UUID | None = None,
    lease_seconds: int | None = None,
) -> EnqueuedJob:
    """Put an event's effect into the queue once, and say whether it was there already."""
    argument = caller.argument(
        effect=effect,
        event=event,
        payload=required(payload),
        payload_text=payload_text,
        effect_version=effect_version,
        serial_key=serial_key,
        run_after=run_after,
        owner_token=owner_token,
        lease_seconds=lease_seconds,
    )
    return call("enqueue_job", argument, EnqueuedJob)


@dataclass(frozen=True, slots=True)
class NextJob(Answer):
    """The job taken from the queue, with all a worker needs to send it."""

    job_id: str | None
    idem_key: str | None
    owner_token: UUID | None
    version: int | None
    provider_key: str | None
    handle: str | None
    effect: str | None
    effect_version: int | None
    provider: str | None
    attempts: int | None
    lease_seconds: int | None
    lease_expires_at: datetime | None
    marker_at: datetime | None
    event: Any
    payload: Any
    detail: Detail


def claim_next_job(
    caller: Caller,
    *,
    provider: str | None = None,
    effect: str | None = None,
    owner_token: UUID | None = None,
    work: list[str] | None = None,
) -> NextJob:
    """Take the longest-due queued job this caller may work; never waits for a lock."""
    argument = caller.argument(provider=provider, effect=effect, owner_token=owner_token, work=work)
    return call("claim_next_job", argument, NextJob)


@dataclass(frozen=True, slots=True)
class Heartbeat(Answer):
    """Where the lease ends now."""

    version: int | None
    lease_expires_at: datetime | None
    detail: Detail


def heartbeat_job(caller: Caller, *, job_id: str, owner_token: UUID) -> Heartbeat:
    """The holder is alive, so its lease starts again from now."""
    argument = caller.argument(job_id=job_id, owner_token=owner_token)
    return call("heartbeat_job", argument, Heartbeat)


@dataclass(frozen=True, slots=True)
class Marked(Answer):
    """What to send under: after ``won``, send once."""

    provider_key: str | None
    handle: str | None
    send_no: int | None
    version: int | None
    detail: Detail


def mark_sending(
    caller: Caller, *, job_id: str, owner_token: UUID, idem_key: str | None = None
) -> Marked:
    """The last step before a send, and the only way to one: after won, send once."""
    argument = caller.argument(job_id=job_id, idem_key=idem_key, owner_token=owner_token)
    return call("mark_sending", argument, Marked)


@dataclass(frozen=True, slots=True)
class Receipt(Answer):
    """The receipt is on the job, or kept as late evidence."""

    version: int | None
    detail: Detail


def record_receipt(
    caller: Caller, *, job_id: str, owner_token: UUID, provider_ref: str, body: Any = None
) -> Receipt:
    """Keep the provider's own id of the effect the moment it is known, before done."""
    argument = caller.argument(
        job_id=job_id, owner_token=owner_token, provider_ref=provider_ref, body=body
    )
    return call("record_receipt", argument, Receipt)


@dataclass(frozen=True, slots=True)
class CompletedJob(Answer):
    """The job is done; a replay carries the result stored before."""

    job_id: str | None
    version: int | None
    result: Any
    http_status: int | None
    detail: Detail


def complete_job(
    caller: Caller,
    *,
    job_id: str,
    owner_token: UUID,
    result: Any,
    input_hash: str | None = None,
    http_status: int | None = None,
    provider_ref: str | None = None,
    work_outcome: str | None = None,
) -> CompletedJob:
    """The work is done; store its result for every later caller. Done stays done."""
    argument = caller.argument(
        job_id=job_id,
        owner_token=owner_token,
        result=required(result),
        input_hash=input_hash,
        http_status=http_status,
        provider_ref=provider_ref,
        work_outcome=work_outcome,
    )
    return call("complete_job", argument, CompletedJob)


@dataclass(frozen=True, slots=True)
class FailedJob(Answer):
    """What happens next: queued, dead or left_for_sweeper."""

    next: str | None
    run_after: datetime | None
    detail: Detail


def fail_job(
    caller: Caller,
    *,
    job_id: str,
    owner_token: UUID,
    error: str,
    effect_state: str,
    error_node: str | None = None,
    http_status: int | None = None,
    replayed: bool | None = None,
) -> FailedJob:
    """The holder failed and says what it knows of the effect."""
    argument = caller.argument(
        job_id=job_id,
        owner_token=owner_token,
        error=error,
        error_node=error_node,
        http_status=http_status,
        replayed=replayed,
        effect_state=effect_state,
    )
    return call("fail_job", argument, FailedJob)


@dataclass(frozen=True, slots=True)
class ReleasedJob(Answer):
    """What happens next: queued, dead or left_for_sweeper."""

    next: str | None
    detail: Detail


def release_job(caller: Caller, *, job_id: str, owner_token: UUID) -> ReleasedJob:
    """The holder gives a job back untouched. After a mark it may not: already_marked."""
    argument = caller.argument(job_id=job_id, owner_token=owner_token)
    return call("release_job", argument, ReleasedJob)


@dataclass(frozen=True, slots=True)
class JobFacts(Answer):
    """All that is known of one job."""

    job_id: str | None
    idem_key: str | None
    state: str | None
    owner: str | None
    owner_kind: str | None
    lease_expires_at: datetime | None
    attempts: int | None
    resends: int | None
    marker_at: datetime | None
    first_marked_at: datetime | None
    send_no: int | None
    provider_ref: str | None
    run_after: datetime | None
    version: int | None
    last_error: str | None
    evidence: Any
    detail: Detail


def explain_job(caller: Caller, *, job_id: str) -> JobFacts:
    """Who holds a job, in which state, with which evidence; changes nothing."""
    return call("explain_job", caller.argument(job_id=job_id), JobFacts)
