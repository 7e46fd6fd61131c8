"""The small print of an item: its chips, its facts, and the four facts of the audit."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse

from ledger.models import Conflict, Job, Provider, Workflow
from review.decisions import Kind
from review.items.around import ALIKE_CAP
from review.items.page import Fact
from review.items.parts import Chip
from review.items.sends import is_searched, settle_left
from review.language import _, later, plural
from review.reasons import in_words
from review.text import actor, listed, shown
from review.verdict import CLASS_NAMES

_EXECUTION_HINT = later("a green tick there proves nothing about the effect")


def chips_of(conflict: Conflict, kind: Kind, provider: Provider | None, alike: int) -> list[Chip]:
    """Return the labels beside the title."""
    chips = [Chip(kind.label, kind.tone, kind.icon)]
    if provider:
        chips.append(Chip(CLASS_NAMES.get(provider.class_field, provider.class_field)))
    if conflict.sensitive:
        chips.append(Chip(_("sensitive field"), "plain", "◆"))
    if conflict.external:
        chips.append(Chip(_("posted from outside")))
    if alike > 1:
        chips.append(
            Chip(
                plural(
                    "{number} loss on this record",
                    "{number} losses on this record",
                    alike,
                    capped=alike == ALIKE_CAP,
                )
            )
        )
    if conflict.proposed_by and conflict.state == "open":
        chips.append(Chip(_("waits for a second person"), "unknown", "◐"))
    return chips


def facts_of(
    conflict: Conflict,
    job: Job | None,
    provider: Provider | None,
    workflow: Workflow | None,
    now: datetime,
) -> list[Fact]:
    """Return the facts panel; what is not known is left out, not shown as blank."""
    facts = [
        Fact(_("Workflow"), actor(conflict.workflow, 80), _version(conflict.workflow_version)),
        _execution(conflict, job, workflow),
        Fact(_("Effect"), shown(conflict.effect, 80), _version(conflict.effect_version)),
        Fact(_("Key"), shown(conflict.idem_key, 120), mono=True),
        Fact(_("Lost"), at=conflict.created_at),
        Fact(_("Attempt"), str(conflict.attempt) if conflict.attempt > 1 else ""),
    ]
    if job:
        facts += _job_facts(job, provider, now)
    return [fact for fact in facts if fact.value or fact.at]


def _job_facts(job: Job, provider: Provider | None, now: datetime) -> list[Fact]:
    hint = "" if provider else _("not registered")
    if provider and provider.auto_registered:
        hint = _("registered by itself; its class is a guess")
    searched = is_searched(provider)
    settle = settle_left(job, now) if searched else ""
    return [
        Fact(_("Provider"), shown(job.provider, 80), hint),
        Fact(_("Provider key"), _other_than(job.provider_key, job.idem_key), mono=True),
        Fact(_("Handle"), shown(job.handle, 120) if searched else "", mono=True),
        Fact(_("Reference"), shown(job.provider_ref, 120), mono=True),
        Fact(_("Marked"), at=job.first_marked_at),
        Fact(_("Attempts"), str(job.attempts)),
        Fact(_("Resends"), str(job.resends)),
        Fact(_("Settle window"), settle),
        Fact(
            _("Job"),
            shown(job.id, 80),
            _("now {state}").format(state=job.state),
            mono=True,
            href=_admin("job", job.id),
        ),
    ]


def detail_facts(detail: Mapping[str, Any]) -> list[Fact]:
    """Return what the ledger noted about the loss itself."""
    allowed = detail.get("allowed")
    moves = [move for move in allowed if isinstance(move, str)] if isinstance(allowed, list) else []
    hint, reason = detail.get("hint"), detail.get("reason")
    newer = detail.get("superseded_by")
    facts = [
        Fact(_("Allowed from there"), listed([shown(move, 40) for move in moves], most=8)),
        Fact(_("The table says"), shown(hint, 300) if isinstance(hint, str) else ""),
        Fact(
            _("In review because"), shown(in_words(reason), 200) if isinstance(reason, str) else ""
        ),
        Fact(
            _("Overtaken by job"),
            shown(newer, 80) if isinstance(newer, str) else "",
            mono=True,
        ),
    ]
    return [fact for fact in facts if fact.value]


def _execution(conflict: Conflict, job: Job | None, workflow: Workflow | None) -> Fact:
    execution = conflict.execution_id or (job.execution_id if job else None)
    href = ""
    if (
        execution
        and workflow
        and workflow.editor_url
        and workflow.editor_url.startswith(("http://", "https://"))
    ):
        href = f"{workflow.editor_url.rstrip('/')}/executions/{execution}"
    return Fact(
        _("Execution"), shown(execution, 60), _EXECUTION_HINT if execution else "", href=href
    )


def _version(number: object) -> str:
    return _("version {version}").format(version=shown(number, 40)) if number else ""


def _other_than(value: str, known: str) -> str:
    return "" if value == known else shown(value, 120)


def _admin(model: str, pk: str) -> str:
    return reverse(f"admin:ledger_{model}_change", args=[pk])


def four_of(conflict: Conflict) -> dict[str, str]:
    """Return the four facts every audit row holds, as the loss recorded them."""
    return {
        _("key"): shown(conflict.idem_key or _("(none)"), 300),
        _("expected hash"): shown(conflict.expected_hash, 120),
        _("actual hash"): shown(conflict.actual_hash, 120),
        _("rows written"): str(conflict.row_count),
    }
