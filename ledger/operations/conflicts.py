"""Conflicts: what a workflow lost and reports, and what became of it. Deciding is in decisions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.operations._call import call
from ledger.operations._json import required
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class PostedConflict(Answer):
    """The conflict that keeps the loss."""

    conflict_id: int | None
    state: str | None
    detail: Detail


def post_conflict(
    caller: Caller,
    *,
    kind: str | None = None,
    target: str | None = None,
    record_key: Any = None,
    attempted: Any = None,
    base: Any = None,
    current: Any = None,
    version_read: Any = None,
    version_found: Any = None,
    event: Any = None,
    attempt: int | None = None,
    dedupe_key: str | None = None,
    sensitive: bool | None = None,
    raw_base64: str | None = None,
    parse_error: str | None = None,
) -> PostedConflict:
    """A workflow reports a lost write of a store this ledger cannot guard."""
    argument = caller.argument(
        kind=kind,
        target=target,
        record_key=record_key,
        attempted=required(attempted),
        base=base,
        current=current,
        version_read=version_read,
        version_found=version_found,
        event=event,
        attempt=attempt,
        dedupe_key=dedupe_key,
        sensitive=sensitive,
        raw_base64=raw_base64,
        parse_error=parse_error,
    )
    return call("post_conflict", argument, PostedConflict)


@dataclass(frozen=True, slots=True)
class ConflictFacts(Answer):
    """A conflict and its decision; ``changes`` is what the workflow must now hold."""

    conflict_id: int | None
    kind: str | None
    state: str | None
    decision: str | None
    changes: Any
    resulting_revision: str | None
    revision_seen: str | None
    resolved_by: str | None
    resolved_at: datetime | None
    reason: str | None
    job_id: str | None
    target: str | None
    record_key: str | None
    lock_version: int | None
    detail: Detail


def read_conflict(caller: Caller, *, conflict_id: int) -> ConflictFacts:
    """What became of a conflict, for the workflow that lost; changes nothing."""
    return call("read_conflict", caller.argument(conflict_id=conflict_id), ConflictFacts)
