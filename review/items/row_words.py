"""What a row of the queue says of a conflict: its name and, in a few words, why it waits. Pure."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from review.items.stories import record_of, version
from review.language import _, later, plural
from review.text import actor, listed, shown

_NAME_LIMIT = 80

# Why a conflict waits, by its kind, where nothing but the workflow need be named.
_WHY = {
    "rule_failed": later("{workflow}: the change would break a rule of the table"),
    "not_owner_of_field": later("{workflow} may not write this field"),
    "bad_transition": later("{workflow} asked for a move the table of moves does not have"),
    "lost_record": later("{workflow} wrote to a row that no longer exists"),
    "lost_claim": later("{workflow}: the key is pending but its job is gone"),
    "payload_mismatch": later("{workflow} sent the same event with other content"),
    "result_mismatch": later("{workflow} finished twice with different results"),
}


def why(conflict: Conflict, facts: Mapping[str, Any]) -> str:
    """Say in a few words, for a row of the queue, why this waits."""
    if conflict.kind == "stale_version":
        return _overtaken(conflict, facts)
    if conflict.kind == "unknown_send":
        provider = facts.get("provider") or _("the provider")
        return f"{_unanswered(provider, facts)} · {facts.get('class_name') or _('unknown class')}"
    if conflict.kind == "missing_key":
        return _without_key(facts)
    return _WHY.get(conflict.kind, "{workflow}").format(workflow=actor(conflict.workflow, 60))


def _overtaken(conflict: Conflict, facts: Mapping[str, Any]) -> str:
    """Say whose change came first, and how often it was tried."""
    lost = _("{workflow}'s change is lost: {first} came first ({read} → {found})").format(
        workflow=actor(conflict.workflow, 60),
        first=facts.get("first") or _("another change"),
        read=version(conflict.version_read),
        found=version(conflict.version_found),
    )
    tried = plural("tried {number} time", "tried {number} times", conflict.attempt)
    return f"{lost} · {tried}"


def _unanswered(provider: str, facts: Mapping[str, Any]) -> str:
    """Say in a few words why nobody knows whether a send landed."""
    if facts.get("unmarked"):
        return f"{provider}: {facts['unmarked']}"
    if facts.get("refuses") and facts.get("spent"):
        words = _("{provider} never answered; no attempt is left, a resend makes no second one")
    else:
        words = _("{provider} never answered")
    return words.format(provider=provider)


def _without_key(facts: Mapping[str, Any]) -> str:
    """Say what is missing to make a key from what came, or why that could not be read."""
    if facts.get("unreadable"):
        lost = _("what came could not be read: {why}")
        return lost.format(why=shown(facts["unreadable"], 160))
    if facts.get("path"):
        missing = _("nothing to make a key from ({path} is missing); parked, not sent")
        return missing.format(path=shown(facts["path"], 60))
    return _("nothing to make a key from; parked, not sent")


def what(conflict: Conflict, fields: list[str], facts: Mapping[str, Any]) -> str:
    """Name the item for a row of the queue: record and fields, or effect and key."""
    if conflict.target:
        names = listed([shown(name, 40) for name in fields], most=3)
        return f"{record_of(conflict)} · {names}" if names else record_of(conflict)
    effect = shown(facts.get("effect_title") or conflict.effect or conflict.workflow, _NAME_LIMIT)
    key = shown(conflict.idem_key or conflict.job_id or "", _NAME_LIMIT)
    key = key.removeprefix(f"{conflict.effect}:")
    if conflict.kind == "missing_key":
        key = _("could not be read") if facts.get("unreadable") else _("no key")
    return f"{effect} · {key}" if key else effect
