"""What every verb shares: reading the form, and the answer in one shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from review.errors import IncompleteError

# Reasons are kept for good and read by people; a longer one is a paste gone wrong.
_REASON_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was asked of the ledger and what it answered."""

    decision: str
    outcome: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def answered(decision: str, result: Any) -> Attempt:
    """Put an operation's result in the common shape."""
    detail = getattr(result, "detail", None)
    return Attempt(decision, result.outcome, detail if isinstance(detail, dict) else {})


def lock_version(form: Mapping[str, str]) -> int:
    """Return the version of the item the person saw."""
    text = form.get("lock_version", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise IncompleteError({"lock_version": "This form is incomplete. Open the item again."})
    return int(text)


def reason(form: Mapping[str, str]) -> str:
    """Return the reason; without one nothing is asked of the ledger."""
    text = form.get("reason", "").replace("\x00", "").strip()
    if not text:
        raise IncompleteError({"reason": "Say why. The reason stays with the decision."})
    if len(text) > _REASON_LIMIT:
        raise IncompleteError({"reason": f"Keep the reason under {_REASON_LIMIT:,} characters."})
    return text


def revision(form: Mapping[str, str]) -> int | None:
    """Return the version of the record the person saw; a store outside has none we can guard."""
    text = form.get("revision_seen", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def optional(form: Mapping[str, str], name: str) -> str | None:
    """Return a field's text, or None where it is blank."""
    return form.get(name, "").replace("\x00", "").strip() or None
