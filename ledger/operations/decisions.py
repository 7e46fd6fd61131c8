"""Decisions: a person ends a conflict, alone or with a second person."""

from dataclasses import dataclass
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class Decision(Answer):
    """The conflict as it stands after the decision."""

    conflict_id: int | None
    state: str | None
    decision: str | None
    resulting_revision: str | None
    job_id: str | None
    lock_version: int | None
    detail: Detail


@dataclass(frozen=True, slots=True)
class Reopened(Answer):
    """The conflict that waits for a decision again."""

    conflict_id: int | None
    lock_version: int | None
    detail: Detail


def decide_conflict(
    *,
    actor: str,
    conflict_id: int,
    lock_version: int,
    decision: str,
    reason: str | None = None,
    changes: dict[str, Any] | None = None,
    revision_seen: int | None = None,
    provider_ref: str | None = None,
    statement: str | None = None,
    event: dict[str, Any] | None = None,
    risk_acknowledged: bool | None = None,
    payload: Any = None,
    payload_text: str | None = None,
) -> Decision:
    """A person ends a conflict, with a reason and under their name."""
    argument = {
        "actor": actor,
        "conflict_id": conflict_id,
        "lock_version": lock_version,
        "decision": decision,
        "reason": reason,
        "changes": changes,
        "revision_seen": revision_seen,
        "provider_ref": provider_ref,
        "statement": statement,
        "event": event,
        "risk_acknowledged": risk_acknowledged,
        "payload": payload,
        "payload_text": payload_text,
    }
    return call("decide_conflict", argument, Decision)


def approve_decision(
    *,
    actor: str,
    conflict_id: int,
    lock_version: int,
    reason: str | None = None,
) -> Decision:
    """A second person lets a proposed decision take effect, exactly as proposed."""
    argument = {
        "actor": actor,
        "conflict_id": conflict_id,
        "lock_version": lock_version,
        "reason": reason,
    }
    return call("approve_decision", argument, Decision)


def reject_decision(
    *,
    actor: str,
    conflict_id: int,
    lock_version: int,
    reason: str | None = None,
) -> Reopened:
    """A proposed decision is taken off the table; the conflict stays open."""
    argument = {
        "actor": actor,
        "conflict_id": conflict_id,
        "lock_version": lock_version,
        "reason": reason,
    }
    return call("reject_decision", argument, Reopened)


def withdraw_decision(
    *,
    actor: str,
    conflict_id: int,
    lock_version: int,
    reason: str | None = None,
) -> Reopened:
    """Take a resend back while its job is still queued and not due."""
    argument = {
        "actor": actor,
        "conflict_id": conflict_id,
        "lock_version": lock_version,
        "reason": reason,
    }
    return call("withdraw_decision", argument, Reopened)


@dataclass(frozen=True, slots=True)
class DecidedJob(Answer):
    """The job as it stands after the decision."""

    job_id: str | None
    state: str | None
    version: int | None
    detail: Detail


def decide_queued_job(
    *,
    actor: str,
    job_id: str,
    version: int,
    decision: str,
    reason: str | None = None,
) -> DecidedJob:
    """A person lets a waiting job run now, or ends it."""
    argument = {
        "actor": actor,
        "job_id": job_id,
        "version": version,
        "decision": decision,
        "reason": reason,
    }
    return call("decide_queued_job", argument, DecidedJob)


@dataclass(frozen=True, slots=True)
class ConfirmedSend(Answer):
    """The conflict after the confirmation."""

    state: str | None
    job_id: str | None
    detail: Detail


def confirm_landed(
    caller: Caller,
    *,
    conflict_id: int,
    evidence_id: int,
) -> ConfirmedSend:
    """A workflow with the scope decide closes an uncertain send on positive evidence."""
    argument = caller.argument(
        conflict_id=conflict_id,
        evidence_id=evidence_id,
    )
    return call("confirm_landed", argument, ConfirmedSend)
