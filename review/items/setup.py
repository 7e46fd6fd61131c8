"""The page of what Landed is set up with: its facts, what may be changed, and who changed it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import FieldOwnership, Policy, Provider, Workflow
from review.items import asks, seals, setup_facts, ticks
from review.items.history import history
from review.items.offers import Places, User, needs_of, offer
from review.items.page import Fact, ItemPage
from review.items.parts import Chip
from review.items.seals import Seals
from review.items.stories import bold
from review.items.ticks import Tick
from review.language import _, grouped
from review.people import people_for
from review.setup import SETUP
from review.text import listed, shown
from sweeper import drift

# Owners of one field that are read; a field of more is everybody's.
_OWNERS = 50


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a target and the workflows that may write it."""

    target: str
    name: str
    owners: tuple[FieldOwnership, ...]

    @property
    def pk(self) -> str:
        """Return what its address names it by."""
        return f"{self.target}/{self.name}"

    @property
    def sensitive(self) -> bool:
        """Say whether a person decides about it, and a second one confirms."""
        return any(each.sensitive for each in self.owners)


@dataclass(frozen=True, slots=True)
class Told:
    """How a page begins, what its buttons are filled with, and what forbids them."""

    title: str
    story: SafeString
    chip: Chip
    facts: list[Fact]
    key: str
    places: Places


def find(source: str, item_id: str) -> Any:
    """Return what an address names, or None."""
    look = _FIND.get(source)
    return look(item_id) if look and "\x00" not in item_id else None


def page(
    source: str, row: Any, user: User, form: Mapping[str, str] | None = None, before: str = ""
) -> ItemPage:
    """Build the page for this person; form holds what was typed so far."""
    told = _TELL[source](row)
    kind = SETUP[source]
    offers = offer(kind.decisions, (source, str(row.pk)), user, told.places)
    may = any(not each.disabled for each in offers)
    past = history(people_for(user), {"key": told.key}, before=before, values=source == "policy")
    return ItemPage(
        source=source,
        item_id=str(row.pk),
        kind=kind,
        offers=offers,
        needs=needs_of(offers),
        inputs=form or {},
        lock_version=getattr(row, "version", None),
        title=told.title,
        story=told.story,
        chips=[told.chip],
        facts=[fact for fact in told.facts if fact.value or fact.at],
        timeline=past.entries,
        older=past.older,
        asks=asks.of(source, row, form or {}) if may else (),
        links=setup_facts.links(source, row),
    )


def _field(item_id: str) -> Field | None:
    target, _slash, name = item_id.partition("/")
    owners = FieldOwnership.objects.filter(target=target, field=name).order_by("workflow")
    found = tuple(owners[:_OWNERS])
    return Field(target, name, found) if found else None


_FIND: Mapping[str, Callable[[str], Any]] = {
    "policy": lambda name: Policy.objects.filter(pk=name).first(),
    "provider": lambda name: Provider.objects.filter(pk=name).first(),
    "retention": lambda name: Provider.objects.filter(pk=name).first(),
    "field": _field,
    "tick": ticks.find,
    "seals": seals.find,
    "workflow": lambda name: Workflow.objects.filter(pk=name).first(),
}


def _policy(row: Policy) -> Told:
    story = format_html("{}.", shown(row.note or _("a constant of this installation"), 300))
    return Told(
        title=_("{policy} is {value}").format(
            policy=shown(row.name, 80), value=asks.policy_words(row)
        ),
        story=story,
        chip=setup_facts.source_chip(row.source),
        facts=setup_facts.of_policy(row),
        key=f"policy:{row.name}",
        places=Places({}),
    )


def _provider(row: Provider) -> Told:
    return Told(
        title=shown(row.name, 80),
        story=format_html("{}", setup_facts.class_story(row)),
        chip=setup_facts.class_chip(row),
        facts=setup_facts.of_provider(row),
        key=f"providers:{row.name}",
        places=Places({"provider": shown(row.name, 60)}),
    )


def _retention(row: Provider) -> Told:
    signed = row.archive_expiry is not None
    if row.archive_expiry:
        words = _(
            "Keys of {provider} go to the archive when nobody can retry them any more, and are "
            "found there. They are forgotten once they are {age} old."
        )
    else:
        words = _(
            "Keys of {provider} go to the archive when nobody can retry them any more, and are "
            "found there. They are never forgotten: nobody has signed an expiry."
        )
    return Told(
        title=_("{provider}: how long its keys are kept").format(provider=shown(row.name, 80)),
        story=format_html(words, provider=bold(row.name), age=setup_facts.days(row.archive_expiry)),
        chip=Chip(_("expiry signed"), "ok", "✓") if signed else Chip(_("kept for ever")),
        facts=setup_facts.of_retention(row),
        key=f"providers:{row.name}",
        places=Places({"provider": shown(row.name, 60)}),
    )


def _told_field(row: Field) -> Told:
    owners = [shown(each.workflow, 60) for each in row.owners]
    name = f"{shown(row.target, 60)}.{shown(row.name, 60)}"
    forbidden = (
        {"mark_sensitive": _("It is sensitive.")}
        if row.sensitive
        else {"unmark_sensitive": _("It is ordinary.")}
    )
    return Told(
        title=name,
        story=format_html(_owned_words(row), owners=listed(owners, most=6)),
        chip=Chip(_("sensitive"), "warn", "!") if row.sensitive else Chip(_("ordinary")),
        facts=[Fact(_("Target"), shown(row.target, 80)), Fact(_("Field"), shown(row.name, 80))],
        key=f"field:{row.target}.{row.name}",
        places=Places({"field": name}, forbidden),
    )


def _owned_words(row: Field) -> str:
    if len(row.owners) > 1 and row.owners[0].exclusive:
        return _(
            "{owners} owns it. Who may write a field comes from the deploy of each workflow, and "
            "is not changed here."
        )
    return _(
        "{owners} may write it. Who may write a field comes from the deploy of each workflow, and "
        "is not changed here."
    )


def _tick(row: Tick) -> Told:
    now = timezone.now()
    return Told(
        title=f"{row.title}",
        story=format_html("{}", row.story(now)),
        chip=row.chip(now),
        facts=ticks.facts(row),
        key=f"tick:{row.pk}",
        places=Places(
            {"tick": row.name},
            {"run_tick": why} if (why := row.why_not(now)) else {},
        ),
    )


def _workflow(row: Workflow) -> Told:
    changed = row.name in drift.told([row.name])
    return Told(
        title=shown(row.name, 80),
        story=setup_facts.workflow_story(row, changed=changed),
        chip=_standing(row, changed=changed),
        facts=setup_facts.of_workflow(row),
        key=f"workflow:{row.name}",
        places=Places({}),
    )


def _standing(row: Workflow, *, changed: bool) -> Chip:
    if not row.enabled:
        return Chip(_("switched off"), "bad", "✕")
    if changed:
        return Chip(_("changed in n8n"), "warn", "!")
    return Chip(_("enabled"), "ok", "✓")


def _seals(row: Seals) -> Told:
    return Told(
        title=_("The seals of the audit"),
        story=format_html("{}", row.story),
        chip=Chip(_("sealed"), "ok", "✓") if row.newest else Chip(_("nothing sealed"), "warn", "!"),
        facts=seals.facts(row),
        key="audit_seals",
        places=Places(
            {"rows": grouped(row.rows), "seals": grouped(row.count)},
            {"verify_audit": row.why_not} if row.why_not else {},
        ),
    )


_TELL: Mapping[str, Callable[[Any], Told]] = {
    "policy": _policy,
    "provider": _provider,
    "retention": _retention,
    "field": _told_field,
    "tick": _tick,
    "workflow": _workflow,
    "seals": _seals,
}
