"""What a person can do next about an item: never a way the item's page refuses.

Pure: from rows that are read already. The queue and the item's page say the same words.
"""

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import BatchRun, Conflict, FailedJob, Job, Provider, Run
from review.items.around import unreadable
from review.items.checks import what_to_check
from review.items.sends import can_be_asked, known_by
from review.language import _, later
from review.text import shown

_LOOK = later("Look at the facts")

_CONFLICTS = {
    "stale_version": later("Compare, then choose"),
    "rule_failed": later("Keep current, or choose other values"),
    "not_owner_of_field": later("Keep current, or have the field's owner write it"),
    "bad_transition": later("Keep current, or choose an allowed status"),
    "lost_record": later("Resend if it should exist again, or abandon"),
    "unknown_send": later("Look again, then decide"),
    "missing_key": later("Enter with its event id"),
    "lost_claim": later("Make the job again or abandon"),
    "payload_mismatch": later("Keep stored or accept new"),
    "result_mismatch": later("Keep stored or accept new"),
}
# Where what came could not be read, there is nothing in it to write.
_UNREADABLE = {
    "stale_version": later("Read what came, then keep current or abandon"),
    "rule_failed": later("Read what came, then keep current or abandon"),
    "not_owner_of_field": later("Read what came, then keep current or abandon"),
    "bad_transition": later("Read what came, then keep current or abandon"),
    "payload_mismatch": later("Read what came, then keep stored or abandon"),
}
_OTHERS = {
    "job": later("Start its worker, or abandon"),
    "outbox": later("Check the receiver, then retry or drop"),
    "key": later("Decide the item that holds it"),
}


def of_conflict(
    conflict: Conflict, provider_name: str | None, provider: Provider | None, *, has_job: bool
) -> str:
    """Say what to do about a conflict, given who was sent to and whether its job is there."""
    if conflict.proposed_by:
        return _("A second person approves or rejects what is proposed")
    if conflict.kind in _UNREADABLE and unreadable(conflict) is not None:
        return str(_UNREADABLE[conflict.kind])
    if conflict.kind == "missing_key" and unreadable(conflict) is not None:
        return _("Read what came, enter it in its workflow, then abandon it here")
    if conflict.kind == "missing_key" and conflict.external:
        return _("Enter it in its workflow, then abandon it here")
    if conflict.kind == "missing_key" and has_job:
        return _("Abandon it: its job exists")
    if conflict.kind == "unknown_send" and not can_be_asked(provider):
        if not provider_name:
            return _("Check at the provider by hand, then say what you know")
        by_hand = _("Check at {provider} by hand, then say what you know")
        return by_hand.format(provider=shown(provider_name, 40))
    return str(_CONFLICTS.get(conflict.kind, _LOOK))


def of_other(source: str, row: Any, *, again: bool = True) -> str:
    """Say what to do about an item of another source; again: a dead letter can be resent."""
    if isinstance(row, FailedJob):
        if not again:
            return _("Redo it by hand, then acknowledge or abandon")
        return _("Read the error, then resend or abandon")
    if isinstance(row, BatchRun):
        if row.status == "failed":
            return _("Start the import again, then acknowledge")
        return _("Mark failed, then start the import again")
    if isinstance(row, Run):
        if row.external_execution_id:
            return _("Look at it in the engine, then decide")
        return _("Find its execution in the engine and attach it")
    return str(_OTHERS.get(source, _LOOK))


def how_to_check(job: Job, provider: Provider | None) -> SafeString | None:
    """Say where and for what to look by hand, where the provider cannot be asked."""
    if can_be_asked(provider):
        return None
    if what_to_check(job, provider):  # the provider's own profile knows better
        return format_html("{}", _("Where and for what to look stands below."))
    name, (label, value) = shown(job.provider, 60), known_by(job, provider)
    if job.first_marked_at:
        words = _(
            "Landed cannot ask {provider}. Search its own records, or ask who runs it, for this "
            "effect sent about {time} UTC; {label}: <code><bdi>{value}</bdi></code>."
        )
    else:
        words = _(
            "Landed cannot ask {provider}. Search its own records, or ask who runs it, for this "
            "effect; {label}: <code><bdi>{value}</bdi></code>."
        )
    time = f"{job.first_marked_at:%H:%M}" if job.first_marked_at else ""
    return format_html(words, provider=name, time=time, label=label, value=value)
