"""Abandon: close an item without writing or sending anything."""

from collections.abc import Mapping

from ledger.models import Conflict
from ledger.operations.decisions import decide_conflict
from review.actions.base import Attempt, answered, lock_version, reason


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Give the item up, with the reason."""
    result = decide_conflict(
        conflict_id=conflict.id,
        lock_version=lock_version(form),
        actor=actor,
        decision="abandon",
        reason=reason(form),
    )
    return answered("abandon", result)
