"""What a row of the queue says of a conflict: its name and, in a few words, why it waits. Pure."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from review.items.stories import record_of, version
from review.text import actor, counted, listed, shown

_NAME_LIMIT = 80


def why(conflict: Conflict, facts: Mapping[str, Any]) -> str:
    """Say in a few words, for a row of the queue, why this waits."""
    workflow = actor(conflict.workflow, 60)
    if conflict.kind == "stale_version":
        read, found = version(conflict.version_read), version(conflict.version_found)
        tried = f"tried {counted(conflict.attempt, 'time')}"
        first = facts.get("first") or "another change"
        return f"{workflow}'s change is lost: {first} came first ({read} → {found}) · {tried}"
    if conflict.kind == "unknown_send":
        provider, kind = facts.get("provider") or "the provider", facts.get("class_name")
        return f"{_unanswered(provider, facts)} · {kind or 'unknown class'}"
    if conflict.kind == "missing_key" and facts.get("unreadable"):
        return f"what came could not be read: {shown(facts['unreadable'], 160)}"
    return {
        "rule_failed": f"{workflow}: the change would break a rule of the table",
        "not_owner_of_field": f"{workflow} may not write this field",
        "bad_transition": f"{workflow} asked for a move the table of moves does not have",
        "lost_record": f"{workflow} wrote to a row that no longer exists",
        "missing_key": f"nothing to make a key from{_at(facts)}; parked, not sent",
        "lost_claim": f"{workflow}: the key is pending but its job is gone",
        "payload_mismatch": f"{workflow} sent the same event with other content",
        "result_mismatch": f"{workflow} finished twice with different results",
    }.get(conflict.kind, workflow)


def _unanswered(provider: str, facts: Mapping[str, Any]) -> str:
    """Say in a few words why nobody knows whether a send landed."""
    if facts.get("unmarked"):
        return f"{provider}: {facts['unmarked']}"
    if facts.get("refuses") and facts.get("spent"):
        return f"{provider} never answered; no attempt is left, a resend makes no second one"
    return f"{provider} never answered"


def _at(facts: Mapping[str, Any]) -> str:
    path = facts.get("path")
    return f" ({shown(path, 60)} is missing)" if path else ""


def what(conflict: Conflict, fields: list[str], facts: Mapping[str, Any]) -> str:
    """Name the item for a row of the queue: record and fields, or effect and key."""
    if conflict.target:
        names = listed([shown(name, 40) for name in fields], most=3)
        return f"{record_of(conflict)} · {names}" if names else record_of(conflict)
    effect = shown(facts.get("effect_title") or conflict.effect or conflict.workflow, _NAME_LIMIT)
    key = shown(conflict.idem_key or conflict.job_id or "", _NAME_LIMIT)
    key = key.removeprefix(f"{conflict.effect}:")
    if conflict.kind == "missing_key":
        key = "could not be read" if facts.get("unreadable") else "no key"
    return f"{effect} · {key}" if key else effect
