"""Withdraw: take a resend back while it still waits for its undo window to end."""

from collections.abc import Mapping

from ledger.models import Conflict
from ledger.operations.decisions import withdraw_decision
from review.actions.base import Attempt, answered, lock_version, texts
from review.decisions import REASON


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Put everything back as it was; there is no time to ask for a reason."""
    result = withdraw_decision(
        conflict_id=conflict.id,
        lock_version=lock_version(form),
        actor=actor,
        reason=texts(form, also=(REASON,))[REASON] or "taken back within the undo window",
    )
    return answered("withdraw", result)
