"""Resend: give an item back to its worker or workflow, under the same key."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from ledger.operations.decisions import decide_conflict
from review.actions.base import Attempt, answered, document, lock_version, revision, texts
from review.decisions import EVENT, REASON, RISK
from review.language import _


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Ask for a resend; a missing key needs the event, a send that may repeat needs the tick."""
    version = lock_version(form)
    extra: dict[str, Any] = {}
    if conflict.kind == "missing_key":
        read = texts(form, REASON, EVENT)
        extra["event"] = document(
            read[EVENT], EVENT, _("The event has to be a JSON object with the fields of its key.")
        )
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
