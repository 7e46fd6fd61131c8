"""What is known of policies, providers and workflows, in words and as facts."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import Policy, Provider, Workflow
from review.items.addresses import item_url, list_url
from review.items.page import Fact
from review.items.parts import Chip
from review.items.sends import class_name
from review.items.stories import bold
from review.text import actor, age, shown

_SOURCES = {
    "seed": Chip("from the rules", "plain"),
    "guess": Chip("a guess", "warn", "?"),
    "operator": Chip("set here", "ok", "✓"),
}
_CLASSES = {
    "forced_unique": "It refuses a repeat of the same key, so a send whose answer was lost is safe "
    "to do again for as long as it remembers the key.",
    "advisory_handle": "It does not refuse a repeat, but can be searched for what was sent: the "
    "sweep looks, and asks a person where nothing proves it.",
    "advisory_blind": "It neither refuses a repeat nor can be searched: whatever may have been "
    "sent is decided by a person.",
}
_TONES = {"forced_unique": "ok", "advisory_handle": "warn", "advisory_blind": "bad"}


def days(length: timedelta | None) -> str:
    """Write a long time."""
    return "" if length is None else age(length.total_seconds()).removesuffix(" 0 h")


def source_chip(source: str) -> Chip:
    """Name where a value comes from."""
    return _SOURCES.get(source, Chip(source))


def class_chip(row: Provider) -> Chip:
    """Name a provider's class."""
    return Chip(class_name(row), _TONES.get(row.class_field, "plain"))


def class_story(row: Provider) -> str:
    """Say what a provider's class lets recovery do."""
    return _CLASSES.get(row.class_field, "")


def of_policy(row: Policy) -> list[Fact]:
    """Return who set a constant, and when."""
    return [
        Fact(
            "Unit",
            "yes or no" if isinstance(row.value, bool) else shown(row.unit, 40) or "a number",
        ),
        Fact("Set by", actor(row.set_by, 80)),
        Fact("Set", at=row.set_at),
        Fact("Version", str(row.version)),
    ]


def of_provider(row: Provider) -> list[Fact]:
    """Return what is known of a provider that is not changed on its page."""
    life = "for ever" if row.key_unlimited else age(row.key_ttl_seconds or 0)
    return [
        Fact("Driver", shown(row.lookup_adapter, 60) or "none", "set by manage.py provider"),
        Fact("Remembers a key", life if row.class_field == "forced_unique" else "no"),
        Fact("Keys kept", days(row.replay_horizon), href=item_url("retention", row.name)),
        Fact("Registered", "by itself" if row.auto_registered else "by a person"),
        Fact("Since", at=row.created_at),
        Fact("Version", str(row.version)),
    ]


def of_retention(row: Provider) -> list[Fact]:
    """Return the horizons, and who signed that keys may be forgotten."""
    least = row.replay_horizon + row.retention_margin
    return [
        Fact("Retries come for", days(row.retry_horizon)),
        Fact("Replays come for", days(row.replay_horizon)),
        Fact("Margin", days(row.retention_margin)),
        Fact("Shortest expiry", days(least), "replays and margin"),
        Fact("Forgotten after", days(row.archive_expiry) or "never"),
        Fact("Signed by", actor(row.archive_signed_by, 80) if row.archive_signed_by else ""),
        Fact("Signed", at=row.archive_signed_at),
    ]


def workflow_story(row: Workflow, *, changed: bool) -> SafeString:
    """Say what a deploy registered, and whether n8n runs something else by now."""
    marks = (
        "Its sends are marked first on every way, so an unmarked job was never sent."
        if row.sends_dominated
        else "It may send without marking, so an unmarked job is decided by a person."
    )
    drifted = (
        " n8n runs something else than was deployed: somebody changed it there, and nobody checked"
        " its fields and its sends. Deploy what runs, or put back what was deployed."
        if changed
        else ""
    )
    words = "Version {} is the one that counts. {}{}"
    return format_html(words, bold(row.active_version), marks, drifted)


def of_workflow(row: Workflow) -> list[Fact]:
    """Return what a deploy registered of a workflow."""
    editor = row.editor_url or ""
    return [
        Fact("Version", shown(row.active_version, 60)),
        Fact(
            "In the engine",
            shown(row.n8n_workflow_id, 60),
            href=editor if editor.startswith(("http://", "https://")) else "",
        ),
        Fact("Export", shown(row.export_sha256, 80), mono=True),
        Fact("Exported", at=row.exported_at),
        Fact("Login", shown(row.db_role, 80), mono=True),
        Fact("Runs at most", age(row.max_runtime_seconds) if row.max_runtime_seconds else ""),
        Fact("Registered", at=row.created_at),
    ]


def links(source: str, row: Any) -> list[tuple[str, str]]:
    """Lead from one page of the set-up to those that belong to it."""
    if source == "provider":
        return [("How long its keys are kept", item_url("retention", row.name))]
    if source == "retention":
        return [("The provider", item_url("provider", row.name))]
    if source == "field":
        return [("Fields and who writes them", list_url("workflows"))]
    if source == "workflow":
        queue = reverse("admin:review_queue")
        return [
            ("What waits of it", f"{queue}?{urlencode({'workflow': row.name})}"),
            ("Its fields", list_url("workflows")),
        ]
    return []
