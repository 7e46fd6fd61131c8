"""Closed doors and log-ins: what people were refused, and what became of how they log in."""

from dataclasses import dataclass
from uuid import UUID

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class RecordedAccess(Answer):
    """wrong_role for a refusal, won for a change; replay where nothing more was written."""

    detail: Detail


def record_access(
    *,
    actor: str,
    event: str,
    attempt_id: UUID,
    right: str | None = None,
    page: str | None = None,
    address: str | None = None,
    subject: str | None = None,
    reason: str | None = None,
) -> RecordedAccess:
    """What happened at a closed door, or to how a person logs in, as one audit row."""
    argument = {
        "actor": actor,
        "event": event,
        "attempt_id": str(attempt_id),
        "right": right,
        "page": page,
        "address": address,
        "subject": subject,
        "reason": reason,
    }
    return call("record_access", argument, RecordedAccess)
