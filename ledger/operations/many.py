"""Array forms: up to 500 single arguments in one call, one answer each."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.operations._call import call_many
from ledger.operations.base import Answer, Caller, Detail
from ledger.operations.jobs import NextJob


@dataclass(frozen=True, slots=True)
class ClaimedItem(Answer):
    """The answer for one event."""

    item: int | None
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


def claim_jobs(caller: Caller, *, items: list[dict[str, Any]]) -> list[ClaimedItem]:
    """Claim the effects of up to 500 events in one call."""
    return call_many("claim_jobs", caller.argument(items=items), ClaimedItem)


@dataclass(frozen=True, slots=True)
class EnqueuedItem(Answer):
    """The answer for one event."""

    item: int | None
    job_id: str | None
    idem_key: str | None
    state: str | None
    effect_version: int | None
    run_after: datetime | None
    result: Any
    http_status: int | None
    detail: Detail


def enqueue_jobs(caller: Caller, *, items: list[dict[str, Any]]) -> list[EnqueuedItem]:
    """Enqueue the effects of up to 500 events in one call."""
    return call_many("enqueue_jobs", caller.argument(items=items), EnqueuedItem)


@dataclass(frozen=True, slots=True)
class CompletedItem(Answer):
    """The answer for one job."""

    item: int | None
    job_id: str | None
    version: int | None
    result: Any
    http_status: int | None
    detail: Detail


def complete_jobs(caller: Caller, *, items: list[dict[str, Any]]) -> list[CompletedItem]:
    """Complete up to 500 jobs in one call."""
    return call_many("complete_jobs", caller.argument(items=items), CompletedItem)


@dataclass(frozen=True, slots=True)
class PostedItem(Answer):
    """The answer for one failure."""

    item: int | None
    failed_job_id: int | None
    state: str | None
    detail: Detail


def post_failed_jobs(caller: Caller, *, items: list[dict[str, Any]]) -> list[PostedItem]:
    """Record up to 500 failures in one call."""
    return call_many("post_failed_jobs", caller.argument(items=items), PostedItem)


def claim_next_jobs(
    caller: Caller,
    *,
    provider: str | None = None,
    effect: str | None = None,
    owner_token: UUID | None = None,
    work: list[Any] | None = None,
    limit: int | None = None,
) -> list[NextJob]:
    """Take up to 500 due queued jobs this caller may work; never waits for a lock."""
    argument = caller.argument(
        provider=provider,
        effect=effect,
        owner_token=owner_token,
        work=work,
        limit=limit,
    )
    return call_many("claim_next_jobs", argument, NextJob)
