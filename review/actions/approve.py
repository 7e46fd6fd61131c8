"""Approve or reject what another person proposed."""

from collections.abc import Mapping

from ledger.models import Conflict
from ledger.operations.decisions import approve_decision, reject_decision
from review.actions.base import Attempt, answered, lock_version, reason
from review.errors import IncompleteError
from review.language import _


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Carry the proposal out as its second person."""
    result = approve_decision(
        conflict_id=conflict.id, lock_version=lock_version(form), actor=actor, reason=reason(form)
    )
    return answered("approve", result)


def reject(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Throw the proposal away; the item stays open."""
    result = reject_decision(
        conflict_id=conflict.id, lock_version=lock_version(form), actor=actor, reason=reason(form)
    )
    return answered("reject", result)


def take_back(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Throw one's own proposal away; another person's is rejected, which is another right."""
    if conflict.proposed_by != actor:
        raise IncompleteError({"choice": _("Only who proposed a decision can take it back.")})
    result = reject_decision(
        conflict_id=conflict.id, lock_version=lock_version(form), actor=actor, reason=reason(form)
    )
    return answered("take_back", result)
