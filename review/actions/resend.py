"""Resend: give an item back to its worker or workflow, under the same key."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from ledger.operations.decisions import decide_conflict
from review.actions.base import Attempt, answered, lock_version, reason, revision
from review.errors import IncompleteError
from review.jsonvalue import UNSTORABLE_WORDS, UnreadableError, parse, storable, wire


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Ask for a resend; a missing key needs the event, a send that may repeat needs the tick."""
    version, why = lock_version(form), reason(form)
    extra: dict[str, Any] = {}
    if conflict.kind == "missing_key":
        extra["event"] = _event(form)
    if conflict.kind == "unknown_send":
        extra["risk_acknowledged"] = form.get("risk_acknowledged") == "yes"
    result = decide_conflict(
        conflict_id=conflict.id,
        lock_version=version,
        actor=actor,
        decision="resend",
        reason=why,
        revision_seen=revision(form),
        **extra,
    )
    return answered("resend", result)


def _event(form: Mapping[str, str]) -> dict[str, Any]:
    text = form.get("event", "").strip()
    try:
        event = parse(text)
    except UnreadableError as error:
        raise IncompleteError(
            {"event": 'Type the event as JSON, such as {"id": "evt_1"}.'}
        ) from error
    if not isinstance(event, dict) or not event:
        raise IncompleteError(
            {"event": "The event has to be a JSON object with the fields of its key."}
        )
    if not storable(event):
        raise IncompleteError({"event": UNSTORABLE_WORDS})
    return {name: wire(value) for name, value in event.items()}
