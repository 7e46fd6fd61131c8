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
from review.language import _, later
from review.text import actor, age, shown

_SOURCES = {
    "seed": Chip(later("from the rules"), "plain"),
    "guess": Chip(later("a guess"), "warn", "?"),
    "operator": Chip(later("set here"), "ok", "✓"),
}
_CLASSES = {
    "forced_unique": later(
        "It refuses a repeat of the same key, so a send whose answer was lost is safe to do again "
        "for as long as it remembers the key."
    ),
    "advisory_handle": later(
        "It does not refuse a repeat, but can be searched for what was sent: the sweep looks, and "
        "asks a person where nothing proves it."
    ),
    "advisory_blind": later(
        "It neither refuses a repeat nor can be searched: whatever may have been sent is decided "
        "by a person."
    ),
}
_TONES = {"forced_unique": "ok", "advisory_handle": "warn", "advisory_blind": "bad"}


def days(length: timedelta | None) -> str:
    """Write a long time."""
    return "" if length is None else age(length.total_seconds())


def source_chip(source: str) -> Chip:
    """Name where a value comes from."""
    return _SOURCES.get(source, Chip(source))


def class_chip(row: Provider) -> Chip:
    """Name a provider's class."""
    return Chip(class_name(row), _TONES.get(row.class_field, "plain"))


def class_story(row: Provider) -> str:
    """Say what a provider's class lets recovery do."""
    return str(_CLASSES.get(row.class_field, ""))


def of_policy(row: Policy) -> list[Fact]:
    """Return who set a constant, and when."""
    return [
        Fact(
            _("Unit"),
            _("yes or no") if isinstance(row.value, bool) else shown(row.unit, 40) or _("a number"),
        ),
        Fact(_("Set by"), actor(row.set_by, 80)),
        Fact(_("Set"), at=row.set_at),
        Fact(_("Version"), str(row.version)),
    ]


def of_provider(row: Provider) -> list[Fact]:
    """Return what is known of a provider that is not changed on its page."""
    life = _("for ever") if row.key_unlimited else age(row.key_ttl_seconds or 0)
    return [
        Fact(
            _("Driver"), shown(row.lookup_adapter, 60) or _("none"), _("set by manage.py provider")
        ),
        Fact(_("Remembers a key"), life if row.class_field == "forced_unique" else _("no")),
        Fact(_("Keys kept"), days(row.replay_horizon), href=item_url("retention", row.name)),
        Fact(_("Registered"), _("by itself") if row.auto_registered else _("by a person")),
        Fact(_("Since"), at=row.created_at),
        Fact(_("Version"), str(row.version)),
    ]


def of_retention(row: Provider) -> list[Fact]:
    """Return the horizons, and who signed that keys may be forgotten."""
    least = row.replay_horizon + row.retention_margin
    return [
        Fact(_("Retries come for"), days(row.retry_horizon)),
        Fact(_("Replays come for"), days(row.replay_horizon)),
        Fact(_("Margin"), days(row.retention_margin)),
        Fact(_("Shortest expiry"), days(least), _("replays and margin")),
        Fact(_("Forgotten after"), days(row.archive_expiry) or _("never")),
        Fact(_("Signed by"), actor(row.archive_signed_by, 80) if row.archive_signed_by else ""),
        Fact(_("Signed"), at=row.archive_signed_at),
    ]


def workflow_story(row: Workflow, *, changed: bool) -> SafeString:
    """Say what a deploy registered, and whether n8n runs something else by now."""
    marks = (
        _("Its sends are marked first on every way, so an unmarked job was never sent.")
        if row.sends_dominated
        else _("It may send without marking, so an unmarked job is decided by a person.")
    )
    counts = format_html(
        _("Version {version} is the one that counts."), version=bold(row.active_version)
    )
    if not changed:
        return format_html("{} {}", counts, marks)
    drifted = _(
        "n8n runs something else than was deployed: somebody changed it there, and nobody checked "
        "its fields and its sends. Deploy what runs, or put back what was deployed."
    )
    return format_html("{} {} {}", counts, marks, drifted)


def of_workflow(row: Workflow) -> list[Fact]:
    """Return what a deploy registered of a workflow."""
    editor = row.editor_url or ""
    return [
        Fact(_("Version"), shown(row.active_version, 60)),
        Fact(
            _("In the engine"),
            shown(row.n8n_workflow_id, 60),
            href=editor if editor.startswith(("http://", "https://")) else "",
        ),
        Fact(_("Export"), shown(row.export_sha256, 80), mono=True),
        Fact(_("Exported"), at=row.exported_at),
        Fact(_("Login"), shown(row.db_role, 80), mono=True),
        Fact(_("Runs at most"), age(row.max_runtime_seconds) if row.max_runtime_seconds else ""),
        Fact(_("Registered"), at=row.created_at),
    ]


def links(source: str, row: Any) -> list[tuple[str, str]]:
    """Lead from one page of the set-up to those that belong to it."""
    if source == "provider":
        return [(_("How long its keys are kept"), item_url("retention", row.name))]
    if source == "retention":
        return [(_("The provider"), item_url("provider", row.name))]
    if source == "field":
        return [(_("Fields and who writes them"), list_url("workflows"))]
    if source == "workflow":
        queue = reverse("admin:review_queue")
        return [
            (_("What waits of it"), f"{queue}?{urlencode({'workflow': row.name})}"),
            (_("Its fields"), list_url("workflows")),
        ]
    return []
