"""Resend: give an item back to its worker or workflow, under the same key."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from ledger.operations.decisions import decide_conflict
from review.actions.base import TEXTS, Attempt, answered, lock_version, revision, texts
from review.decisions import EVENT, REASON, RISK
from review.errors import IncompleteError
from review.jsonvalue import UnreadableError, parse, unstorable, wire


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Ask for a resend; a missing key needs the event, a send that may repeat needs the tick."""
    version = lock_version(form)
    extra: dict[str, Any] = {}
    if conflict.kind == "missing_key":
        read = texts(form, REASON, EVENT)
        extra["event"] = _event(read[EVENT])
    else:
        read = texts(form, REASON)
    if conflict.kind == "unknown_send":
        extra[RISK] = form.get(RISK) == "yes"
    result = decide_conflict(
        conflict_id=conflict.id,
        lock_version=version,
        actor=actor,
        decision="resend",
        reason=read[REASON],
        revision_seen=revision(form),
        **extra,
    )
    return answered("resend", result)


def _event(text: str) -> dict[str, Any]:
    try:
        event = parse(text)
    except UnreadableError as error:
        raise IncompleteError({EVENT: TEXTS[EVENT][1]}) from error
    if not isinstance(event, dict) or not event:
        raise IncompleteError(
            {EVENT: "The event has to be a JSON object with the fields of its key."}
        )
    if words := unstorable(event):
        raise IncompleteError({EVENT: words})
    return {name: wire(value) for name, value in event.items()}
