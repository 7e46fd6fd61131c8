"""Dead letters: what an error branch records, and how it ends."""

from dataclasses import dataclass
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class PostedFailedJob(Answer):
    """The dead letter that stands for the failure."""

    failed_job_id: int | None
    state: str | None
    detail: Detail


def post_failed_job(
    caller: Caller,
    *,
    workflow_name: str | None = None,
    item_key: Any = None,
    job_id: str | None = None,
    effect: str | None = None,
    event: Any = None,
    payload: Any = None,
    payload_text: str | None = None,
    error_message: Any = None,
    error_node: Any = None,
    raw_base64: str | None = None,
    parse_error: str | None = None,
) -> PostedFailedJob:
    """An error branch records what failed, before it answers anybody."""
    argument = caller.argument(
        workflow_name=workflow_name,
        item_key=item_key,
        job_id=job_id,
        effect=effect,
        event=event,
        payload=payload,
        payload_text=payload_text,
        error_message=error_message,
        error_node=error_node,
        raw_base64=raw_base64,
        parse_error=parse_error,
    )
    return call("post_failed_job", argument, PostedFailedJob)


@dataclass(frozen=True, slots=True)
class RetriedFailedJob(Answer):
    """What became of the retry."""

    job_id: str | None
    retry_count: int | None
    detail: Detail


def retry_failed_job(
    *,
    actor: str,
    failed_job_id: int,
) -> RetriedFailedJob:
    """The schedule tries a dead letter again, counting up, until it is exhausted."""
    argument = {
        "actor": actor,
        "failed_job_id": failed_job_id,
    }
    return call("retry_failed_job", argument, RetriedFailedJob)


@dataclass(frozen=True, slots=True)
class DecidedFailedJob(Answer):
    """The dead letter as it stands after the decision."""

    failed_job_id: int | None
    state: str | None
    job_id: str | None
    lock_version: int | None
    detail: Detail


def decide_failed_job(
    *,
    actor: str,
    failed_job_id: int,
    lock_version: int,
    decision: str,
    reason: str | None = None,
    payload: Any = None,
    payload_text: str | None = None,
    event: dict[str, Any] | None = None,
) -> DecidedFailedJob:
    """A person ends a dead letter: try again, abandon, or acknowledge that it was seen."""
    argument = {
        "actor": actor,
        "failed_job_id": failed_job_id,
        "lock_version": lock_version,
        "decision": decision,
        "reason": reason,
        "payload": payload,
        "payload_text": payload_text,
        "event": event,
    }
    return call("decide_failed_job", argument, DecidedFailedJob)
