"""What is read beside a conflict's own row: its job, provider and record, and what was noted."""

from dataclasses import dataclass
from typing import Any

from ledger.models import Conflict, Effect, Job, Provider, RecordHistory, Workflow
from review.decisions import Kind
from review.items import reading
from review.items.parts import Version
from review.language import _
from review.text import shown
from review.verbs import KINDS, UNKNOWN_KIND, UNREADABLE

# Losses counted per record; more than this is "many".
ALIKE_CAP = 100


@dataclass(frozen=True, slots=True)
class Around:
    """Everything read once for one page."""

    job: Job | None
    provider: Provider | None
    workflow: Workflow | None
    effect: Effect | None
    now: RecordHistory | None
    revision_column: str
    status_column: str
    versions: list[Version]
    newest: Version | None
    alike: int


def read_around(conflict: Conflict) -> Around:
    """Read what the page of a conflict needs, in a fixed number of queries."""
    job = reading.job_query().filter(pk=conflict.job_id).first() if conflict.job_id else None
    target, key = (None, None) if conflict.external else record_named(conflict)
    alike = Conflict.objects.filter(target=conflict.target, record_key=conflict.record_key)
    now = reading.latest(target, key) if target and key else None
    versions, newest = (
        reading.history(target, key, conflict.version_read, now) if target and key else ([], None)
    )
    columns = reading.special_columns(target) if target else ("", "")
    return Around(
        job=job,
        provider=Provider.objects.filter(pk=job.provider).first() if job else None,
        workflow=Workflow.objects.filter(pk=conflict.workflow).first(),
        effect=Effect.objects.filter(pk=conflict.effect).first() if conflict.effect else None,
        now=now,
        revision_column=columns[0],
        status_column=columns[1],
        versions=versions,
        newest=newest,
        alike=alike[:ALIKE_CAP].count() if conflict.target else 0,
    )


def record_named(conflict: Conflict) -> tuple[str | None, str | None]:
    """Return the record an item is about, also where only the parked item names it."""
    if conflict.target:
        return conflict.target, conflict.record_key
    parked = reading.side(reading.text_of(conflict, "attempted"), wrapped=True).value
    if not isinstance(parked, dict):
        return None, None
    target, key = parked.get("target"), parked.get("record_key")
    return (target, key) if isinstance(target, str) and isinstance(key, str) else (None, None)


def unreadable(conflict: Conflict) -> dict[str, Any] | None:
    """Return what is known of a body from outside that could not be read, or None where it was."""
    if not conflict.external:
        return None
    noted = detail_of(conflict)
    attempted = reading.side(reading.text_of(conflict, "attempted")).value
    members = attempted if isinstance(attempted, dict) else {}
    if noted.get("unreadable"):
        inner = noted["unreadable"]
        return {**members, **noted, **(inner if isinstance(inner, dict) else {})}
    return members if {"unreadable", "body_sha256"} <= members.keys() else None


def unreadable_because(conflict: Conflict) -> str:
    """Say why a body from outside could not be read; nothing where it was."""
    lost = unreadable(conflict)
    if lost is None:
        return ""
    why = lost.get("unreadable")
    return shown(why, 300) if isinstance(why, str) else _("it is not readable as JSON")


def kind_of_loss(conflict: Conflict) -> Kind:
    """Return how a conflict is named and ended; a report nobody could read is called that."""
    if conflict.kind == "missing_key" and unreadable(conflict) is not None:
        return UNREADABLE
    return KINDS.get(conflict.kind, UNKNOWN_KIND)


def attempted_names(conflict: Conflict) -> list[str]:
    """Return the fields a refused write wanted to change."""
    if not conflict.target or unreadable(conflict) is not None:
        return []
    attempted = reading.side(reading.text_of(conflict, "attempted")).value
    return sorted(attempted) if isinstance(attempted, dict) else []


def holder(conflict: Conflict) -> str:
    """Return who held the job when it was lost, as the ledger remembered it."""
    remembered = reading.side(reading.text_of(conflict, "current_snapshot")).value
    name = remembered.get("owner_name") if isinstance(remembered, dict) else None
    if isinstance(name, str) and name:
        return _("worker {name}").format(name=shown(name, 60))
    return _("the worker")


def detail_of(conflict: Conflict) -> dict[str, Any]:
    """Return what the ledger noted about the loss."""
    value = reading.side(reading.text_of(conflict, "detail")).value
    return value if isinstance(value, dict) else {}
