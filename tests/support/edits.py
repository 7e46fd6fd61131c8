"""What people ask for when they resend with other content, as the members of the operations."""

from typing import Any

from tests.support.factories import PAYLOAD

CHANGED = {**PAYLOAD, "amount": 41}
OTHER_EVENT = {"id": "1-again"}

_ASKED = {
    "decision": "resend",
    "reason": "the amount was mistyped",
    "actor": "anna",
    "payload": CHANGED,
}


def of_letter(letter: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return what resends a dead letter, as it is, with other content."""
    named = {"failed_job_id": letter["id"], "lock_version": letter["lock_version"]}
    return {**named, **_ASKED, **more}


def of_conflict(conflict: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return what resends an uncertain send, as it is, with other content."""
    named = {"conflict_id": conflict["id"], "lock_version": conflict["lock_version"]}
    return {**named, **_ASKED, **more}
