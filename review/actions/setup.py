"""What changes the set-up: a policy, a provider, its retention, a field, or a tick run now."""

from collections.abc import Callable, Mapping
from typing import Any

from ledger.models import Policy, Provider
from ledger.operations.audit import verify_audit
from ledger.operations.policies import set_policy
from ledger.operations.registrations import mark_field_sensitive, save_provider
from ledger.operations.retention import sign_archive_expiry
from review.actions.base import Attempt, answered, lock_version, reason
from review.decisions import Decision
from review.errors import IncompleteError
from review.items import asks
from review.items.seals import Seals
from review.items.setup import Field
from review.items.ticks import RUNNABLE, Tick
from review.language import _
from review.text import listed
from sweeper import tasks
from sweeper.ticks import on_behalf_of


def run(source: str, row: Any, decision: Decision, actor: str, form: Mapping[str, str]) -> Attempt:
    """Carry out a decision of the table on a row of the set-up, as the person who asked."""
    if source == "tick":
        return _tick(row, actor)
    if source == "seals":
        return _seals(row, f"human:{actor}")
    result = _DECIDE[source](row, decision, f"human:{actor}", form)
    return answered(decision.decision, result)


def _policy(row: Policy, _decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return set_policy(
        actor=actor,
        name=row.name,
        value=asks.policy_value(row, form),
        reason=reason(form),
        version=lock_version(form),
    )


def _provider(row: Provider, _decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return save_provider(
        actor=actor,
        name=row.name,
        reason=reason(form),
        version=lock_version(form),
        **asks.provider_values(form),
    )


def _retention(row: Provider, _decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return sign_archive_expiry(
        actor=actor,
        name=row.name,
        expiry_seconds=asks.seconds_of_days(form.get("expiry_days", ""), "expiry_days"),
        reason=reason(form),
    )


def _field(row: Field, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return mark_field_sensitive(
        actor=actor,
        target=row.target,
        field=row.name,
        sensitive=decision.decision == "mark_sensitive",
        reason=reason(form),
    )


def _tick(row: Tick, actor: str) -> Attempt:
    """Run one tick here; every audit row it writes names who asked."""
    with on_behalf_of(actor):
        ran = getattr(tasks, RUNNABLE[row.pk])()
    outcome = {"ran": "won", "skipped_busy": "held_by_other"}.get(ran.outcome, "lost_claim")
    return Attempt("run_tick", outcome)


def _seals(row: Seals, actor: str) -> Attempt:
    """Recompute the last seals; what is broken is named."""
    if row.why_not:
        raise IncompleteError({"seals": row.why_not})
    found = verify_audit(actor=actor, newest=row.count)
    broken = [each for each in found if each.problem]
    named = [
        _("row {number}").format(number=each.event_id)
        if each.event_id
        else _("seal {number}").format(number=each.seal_id)
        for each in broken
    ]
    words = _("Broken: {which}.").format(which=listed(named, most=20))
    detail = {"hint": words} if broken else {}
    return Attempt("verify_audit", found[0].outcome, detail)


_DECIDE: Mapping[str, Callable[[Any, Decision, str, Mapping[str, str]], Any]] = {
    "policy": _policy,
    "provider": _provider,
    "retention": _retention,
    "field": _field,
}
