"""Batches: one running batch a workflow, with a cursor that survives."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.operations._call import call
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class StartedBatch(Answer):
    """The batch to work, with the cursor to go on from."""

    batch_id: int | None
    owner_token: UUID | None
    last_cursor: str | None
    items_processed: int | None
    chunk_no: int | None
    lease_expires_at: datetime | None
    detail: Detail


def start_batch(
    caller: Caller,
    *,
    workflow_name: str | None = None,
    owner_token: UUID | None = None,
) -> StartedBatch:
    """Begin the one running batch of a workflow, or take up the one that stopped."""
    argument = caller.argument(
        workflow_name=workflow_name,
        owner_token=owner_token,
    )
    return call("start_batch", argument, StartedBatch)


@dataclass(frozen=True, slots=True)
class AdvancedBatch(Answer):
    """The batch after the chunk."""

    last_cursor: str | None
    items_processed: int | None
    chunk_no: int | None
    lease_expires_at: datetime | None
    detail: Detail


def advance_batch(
    caller: Caller,
    *,
    batch_id: int,
    owner_token: UUID,
    new_cursor: Any,
    n: int,
    expected_cursor: Any = None,
) -> AdvancedBatch:
    """A chunk is done: move the cursor and count its items, once."""
    argument = caller.argument(
        batch_id=batch_id,
        owner_token=owner_token,
        new_cursor=new_cursor,
        n=n,
        expected_cursor=expected_cursor,
    )
    return call("advance_batch", argument, AdvancedBatch)


@dataclass(frozen=True, slots=True)
class FinishedBatch(Answer):
    """The batch after its end."""

    status: str | None
    items_processed: int | None
    detail: Detail


def finish_batch(
    caller: Caller,
    *,
    batch_id: int,
    owner_token: UUID,
    status: str,
    error: str | None = None,
) -> FinishedBatch:
    """The batch is complete, or it failed and can be taken up from its cursor."""
    argument = caller.argument(
        batch_id=batch_id,
        owner_token=owner_token,
        status=status,
        error=error,
    )
    return call("finish_batch", argument, FinishedBatch)


@dataclass(frozen=True, slots=True)
class DecidedBatch(Answer):
    """The batch as it stands after the decision."""

    batch_id: int | None
    status: str | None
    lock_version: int | None
    detail: Detail


def decide_batch(
    *,
    actor: str,
    batch_id: int,
    lock_version: int,
    decision: str,
    reason: str | None = None,
) -> DecidedBatch:
    """A person ends a stalled batch, or says that a failed one was seen."""
    argument = {
        "actor": actor,
        "batch_id": batch_id,
        "lock_version": lock_version,
        "decision": decision,
        "reason": reason,
    }
    return call("decide_batch", argument, DecidedBatch)
