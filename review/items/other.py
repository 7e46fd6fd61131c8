"""The page of anything else that waits: its facts, its timeline, its verbs, where to look."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import BatchRun, FailedJob, Idem, Job, OutboxMessage, Run
from ledger.models.base import GuardedModel
from review.items import contents, nexts, reading, standing, timeline
from review.items.offers import User, needs_of, offer
from review.items.page import Chip, Fact, ItemPage, Next
from review.items.sends import was_marked
from review.items.stories import bold, bold_actor
from review.people import people_for
from review.rights import VIEW_PAYLOAD
from review.sources import SOURCES
from review.text import actor, counted, shown

MODELS: Mapping[str, type[GuardedModel]] = {
    "failed_job": FailedJob,
    "job": Job,
    "batch": BatchRun,
    "outbox": OutboxMessage,
    "run": Run,
    "key": Idem,
}
_DEFERRED: Mapping[str, tuple[str, ...]] = {
    "failed_job": ("payload", "event"),
    "job": ("payload", "event", "last_close"),
    "outbox": ("payload",),
    "run": ("result", "late_result"),
    "key": ("result",),
}


def find(source: str, item_id: str) -> Any:
    """Return the row behind an item of another source, JSON deferred, or None."""
    if source not in MODELS or "\x00" in item_id:
        return None
    rows = MODELS[source].objects.defer(*_DEFERRED.get(source, ()))
    try:
        return rows.filter(pk=item_id).first()
    except (ValueError, ValidationError, OverflowError):
        return None


def page(source: str, row: Any, user: User, form: Mapping[str, str] | None = None) -> ItemPage:
    """Build the page for this person; form holds what was typed so far."""
    kind = SOURCES[source]
    title, story, facts = _TELL[source](row)
    subject = standing.subject_of(source, row)
    decided = standing.decided_of(source, row)
    stand = standing.standing_of(source, row, timezone.now())
    offers = (
        []
        if decided and stand.closed
        else offer(kind.decisions, (source, str(row.pk)), user, stand.places, stand.closed)
    )
    return ItemPage(
        source=source,
        item_id=str(row.pk),
        kind=kind,
        offers=offers,
        needs=needs_of(offers),
        inputs=form or {},
        lock_version=row.version if source == "job" else getattr(row, "lock_version", None),
        decided=decided,
        instead=standing.instead_of(source, row),
        title=title,
        story=story,
        chips=[Chip(kind.label, kind.tone, kind.icon)],
        facts=[fact for fact in facts if fact.value or fact.at],
        timeline=timeline.of_subject(people_for(user), **subject) if subject else [],
        opened_at=row.waiting_since,
        next=Next(nexts.of_other(source, row, again="resend" not in stand.forbidden))
        if row.waiting_since
        else None,
        payloads=contents.of_other(
            source,
            row,
            allowed=user.has_perm(VIEW_PAYLOAD),
            again="resend" not in stand.forbidden,
        ),
        links=_links(source, row),
    )


def _failed(row: FailedJob) -> tuple[str, SafeString, list[Fact]]:
    node = format_html(" at the node {}", bold(row.error_node)) if row.error_node else ""
    lost = reading.unreadable_because(row.payload_sha256)
    message = row.error_message or ("" if lost else "no message")
    said = format_html(" with: {}", bold(shown(message, 300))) if message else ""
    unread = (
        format_html(
            " Its report could not be read as a whole ({}), so nothing is sent from it; it is kept "
            "below, byte for byte.",
            lost,
        )
        if lost
        else ""
    )
    story = format_html(
        "{} failed{}{}.{} It was {} and is not retried by itself any more.",
        bold_actor(row.workflow_name),
        node,
        said,
        unread,
        f"retried {counted(row.retry_count, 'time')}" if row.retry_count else "never retried",
    )
    named = message or "a failure whose report could not be read"
    return (
        f"{actor(row.workflow_name, 80)}: {shown(named, 120)}",
        story,
        [
            Fact("Report", "could not be read" if lost else "", lost),
            Fact("State", row.state),
            Fact("Item", shown(row.item_key, 120), mono=True),
            Fact("Effect", shown(row.effect, 80)),
            Fact("Node", shown(row.error_node, 80)),
            Fact("Failed", at=row.failed_at),
            Fact("Retries", str(row.retry_count)),
            Fact("Next retry", at=row.next_retry_at),
        ],
    )


def _job(row: Job) -> tuple[str, SafeString, list[Fact]]:
    story = format_html(
        "This job of {} is due and no worker takes it. {} Start its worker, or see whether the "
        "workflow that should take it is active.",
        bold_actor(row.workflow),
        "It may have been sent before." if was_marked(row) else "Nothing was sent.",
    )
    name = row.idem_key if row.effect == "(unknown)" else row.effect
    return (
        f"{shown(name, 80)}: nobody takes this job",
        story,
        [
            Fact("State", row.state),
            Fact("Workflow", actor(row.workflow, 80)),
            Fact("Provider", shown(row.provider, 80)),
            Fact("Key", shown(row.idem_key, 120), mono=True),
            Fact("Due", at=row.run_after),
            Fact("Attempts", str(row.attempts)),
            Fact("Lane", shown(row.serial_key, 80), mono=True),
        ],
    )


def _batch(row: BatchRun) -> tuple[str, SafeString, list[Fact]]:
    what = "failed" if row.status == "failed" else "stopped without a word"
    story = format_html(
        "The import of {} {} after {}. Starting it again resumes at its cursor; nothing is done "
        "twice.",
        bold_actor(row.workflow_name),
        what,
        counted(row.items_processed, "item"),
    )
    return (
        f"Import of {actor(row.workflow_name, 80)} {what}",
        story,
        [
            Fact("Status", row.status),
            Fact("Cursor", shown(row.last_cursor, 120), mono=True),
            Fact("Items", f"{row.items_processed:,}"),
            Fact("Started", at=row.started_at),
            Fact("Last sign of life", at=row.heartbeat_at),
            Fact("Error", shown(row.last_error)),
        ],
    )


def _outbox(row: OutboxMessage) -> tuple[str, SafeString, list[Fact]]:
    story = format_html(
        "The message {} about {} could not be delivered; its retries are used up. What it tells of "
        "is safe in the ledger; only the receiver does not know.",
        bold(row.topic),
        bold(row.subject),
    )
    return (
        f"{shown(row.topic, 80)}: message given up",
        story,
        [
            Fact("Subject", shown(row.subject, 120), mono=True),
            Fact("Attempts", str(row.attempts)),
            Fact("Written", at=row.created_at),
            Fact("Given up", at=row.given_up_at),
            Fact("Last error", shown(row.last_error)),
        ],
    )


def _run(row: Run) -> tuple[str, SafeString, list[Fact]]:
    asked = (
        format_html("The engine was last heard to say {}.", bold(row.engine_status))
        if row.engine_status
        else "The engine could not be asked about it."
    )
    story = format_html(
        "This run of {} is past what can be decided by itself. {} It is left running here, because "
        "nothing proves that it ended. {}",
        bold_actor(row.workflow),
        asked,
        shown(row.operator_note or "", 300),
    )
    return (
        f"{actor(row.workflow, 80)}: a run nobody can account for",
        story,
        [
            Fact("Status", row.status),
            Fact("Execution", shown(row.external_execution_id or "none known", 80), mono=True),
            Fact("Engine", shown(row.instance, 80), shown(row.engine_status, 40)),
            Fact("Started", at=row.started_at),
            Fact("Deadline", at=row.deadline_at),
            Fact("Last checked", at=row.last_checked_at),
            Fact("Stop asked", at=row.stop_requested_at),
            Fact("Error", shown(row.error)),
        ],
    )


def _idem(row: Idem) -> tuple[str, SafeString, list[Fact]]:
    if row.status == "pending":
        story = format_html(
            "The key {} was taken by {} and nothing was done under it since. No job belongs to it. "
            "It ends when {} writes under it, or when the last item about it is abandoned.",
            bold(row.idem_key),
            bold_actor(row.workflow),
            bold_actor(row.workflow),
        )
        title = "a key is pending and nobody works on it"
    else:
        story = format_html(
            "The key {} should have been archived, but an open item holds it. It ends when "
            "that item is decided.",
            bold(row.idem_key),
        )
        title = "a key is overdue but held"
    return (
        f"{shown(row.idem_key, 80)}: {title}",
        story,
        [
            Fact("Status", row.status),
            Fact("Effect", shown(row.effect, 80)),
            Fact("Workflow", actor(row.workflow, 80)),
            Fact("Claimed", at=row.claimed_at),
            Fact("Kept until", at=row.retain_until),
        ],
    )


_TELL: Mapping[str, Callable[[Any], tuple[str, SafeString, list[Fact]]]] = {
    "failed_job": _failed,
    "job": _job,
    "batch": _batch,
    "outbox": _outbox,
    "run": _run,
    "key": _idem,
}


def _links(source: str, row: Any) -> list[tuple[str, str]]:
    links = []
    if getattr(row, "job_id", None):
        links.append(("The job", reverse("admin:ledger_job_change", args=[row.job_id])))
    if source == "job":
        links.append(("Its key", reverse("admin:ledger_idem_change", args=[row.idem_key])))
    model = MODELS[source]._meta.model_name
    links.append(("The whole row", reverse(f"admin:ledger_{model}_change", args=[row.pk])))
    return links
