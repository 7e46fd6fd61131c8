"""Rows of the queue in words: what waits and why, one query per table whatever their number."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from ledger.models import (
    BatchRun,
    Conflict,
    Effect,
    FailedJob,
    Job,
    OutboxMessage,
    PayloadBody,
    Provider,
    RecordHistory,
    Run,
)
from review.decisions import Kind
from review.items import nexts
from review.items.around import attempted_names, detail_of, kind_of_loss, unreadable_because
from review.items.reading import json_text
from review.items.row_words import what, why
from review.items.sends import class_name, facts_of
from review.items.standing import UNDER_WAY
from review.language import _, plural
from review.models import QueueItem
from review.text import actor, shown


class Told(NamedTuple):
    """What an item is called, why it waits, what to do next, and short labels."""

    # Stored with a set of items as it stands here, so it is in the words of the code.
    what: str
    why: str
    next: str
    chips: tuple[str, ...] = ()
    # How it is named, where the row says more than its source and kind do.
    kind: Kind | None = None


def tell(items: Iterable[QueueItem]) -> dict[tuple[str, str], Told]:
    """Put items in words, by source and id; what no table knows any more is left out."""
    ids: dict[str, list[str]] = {}
    for item in items:
        ids.setdefault(item.source, []).append(str(item.item_id))
    words: dict[tuple[str, str], Told] = {}
    for source, read in _TELL.items():
        if source in ids:
            words |= {(source, pk): told for pk, told in read(ids[source]).items()}
    return words


def _conflict_rows(ids: list[str]) -> QuerySet[Conflict]:
    """Select what a row says of a conflict, its JSON as the first characters of its text."""
    named = ("kind", "target", "record_key", "job_id", "idem_key", "effect", "workflow")
    lost = ("attempt", "version_read", "version_found", "sensitive", "proposed_by", "external")
    return (
        Conflict.objects.filter(pk__in=ids)
        .only(*named, *lost)
        .annotate(
            attempted_text=json_text("attempted", 4_000), detail_text=json_text("detail", 16_384)
        )
    )


def _jobs_of(rows: Iterable[Conflict]) -> QuerySet[Job]:
    """Select what is said of the jobs of conflicts, without what they carry."""
    tried = ("first_marked_at", "send_no", "attempts", "resends", "lease_seconds")
    ids = [row.job_id for row in rows if row.job_id]
    return Job.objects.filter(pk__in=ids).only("provider", *tried)


def _conflicts(ids: list[str]) -> dict[str, Told]:
    rows = list(_conflict_rows(ids))
    jobs = {job.id: job for job in _jobs_of(rows)}
    providers = Provider.objects.in_bulk(list({job.provider for job in jobs.values()}))
    titles = dict(
        Effect.objects.filter(pk__in={row.effect for row in rows if row.effect}).values_list(
            "name", "title"
        )
    )
    writers = _writers(rows)
    told, now = {}, timezone.now()
    for row in rows:
        detail = detail_of(row)
        job = jobs.get(row.job_id or "")
        provider = providers.get(job.provider) if job else None
        facts = {
            "effect_title": titles.get(row.effect or ""),
            "path": detail.get("path"),
            "unreadable": unreadable_because(row),
            "class_name": class_name(provider),
            "first": writers.get((row.target, row.record_key, row.version_found)),
            **facts_of(job, provider, now),
        }
        chips = [_("sensitive")] if row.sensitive else []
        chips += [_("second person")] if row.proposed_by else []
        following = nexts.of_conflict(
            row, job.provider if job else None, provider, has_job=job is not None
        )
        told[str(row.pk)] = Told(
            what(row, attempted_names(row), facts),
            why(row, facts),
            following,
            tuple(chips),
            kind_of_loss(row),
        )
    return told


def _writers(rows: Iterable[Conflict]) -> dict[tuple[str | None, str | None, str | None], str]:
    """Return who wrote the version that each lost change found, by record and version."""
    lost = [row for row in rows if row.target and (row.version_found or "").isdecimal()]
    found = RecordHistory.objects.filter(
        target__in={row.target for row in lost},
        record_key__in={row.record_key for row in lost},
        revision__in={int(row.version_found or 0) for row in lost},
    ).exclude(by_workflow=None)
    return {
        (target, key, str(revision)): actor(workflow, 60)
        for target, key, revision, workflow in found.values_list(
            "target", "record_key", "revision", "by_workflow"
        )
    }


def _failed(ids: list[str]) -> dict[str, Told]:
    jobs = Job.objects.filter(pk=OuterRef("job_id"))
    lost = PayloadBody.objects.filter(sha256=OuterRef("payload_sha256"), parse_error__isnull=False)
    rows = (
        FailedJob.objects.filter(pk__in=ids)
        .only("workflow_name", "error_node", "error_message", "retry_count", "state", "proposed_by")
        .annotate(
            unread=Exists(lost),
            again=Exists(jobs.exclude(state__in=UNDER_WAY))
            | (~Exists(jobs) & ~Exists(lost) & Q(effect__gt="", event__isnull=False)),
        )
    )
    return {
        str(row.pk): Told(
            actor(row.workflow_name, 80)
            + (f" · node “{shown(row.error_node, 60)}”" if row.error_node else ""),
            f"{_message(row.error_message, unread=row.unread)} · {_retried(row.retry_count)}",
            nexts.of_other("failed_job", row, again=row.again),
            (_("second person"),) if row.proposed_by else (),
        )
        for row in rows
    }


def _message(message: str | None, *, unread: bool) -> str:
    missing = _("its report could not be read") if unread else _("no message")
    return shown(message or missing, 160)


def _retried(times: int) -> str:
    if not times:
        return _("never retried")
    return plural("retried {number} time", "retried {number} times", times)


def _job_name(row: Job) -> str:
    """Name a job by effect and key; a raw statement names no effect."""
    key = shown(row.idem_key, 80)
    return key if row.effect == "(unknown)" else f"{shown(row.effect, 60)} · {key}"


def _jobs(ids: list[str]) -> dict[str, Told]:
    rows = Job.objects.filter(pk__in=ids).only("effect", "workflow", "idem_key", "run_after")
    return {
        row.pk: Told(
            _job_name(row),
            _("due, and no worker of {workflow} takes it").format(workflow=actor(row.workflow, 60)),
            nexts.of_other("job", row),
        )
        for row in rows
    }


def _batches(ids: list[str]) -> dict[str, Told]:
    rows = BatchRun.objects.filter(pk__in=ids).only("workflow_name", "status", "items_processed")
    return {
        str(row.pk): Told(
            f"import of {actor(row.workflow_name, 80)}",
            _came_to(row),
            nexts.of_other("batch", row),
        )
        for row in rows
    }


def _came_to(row: BatchRun) -> str:
    done = row.items_processed
    if row.status == "failed":
        return plural("failed after {number} item", "failed after {number} items", done)
    return plural("stalled after {number} item", "stalled after {number} items", done)


def _outbox(ids: list[str]) -> dict[str, Told]:
    rows = OutboxMessage.objects.filter(pk__in=ids).only(
        "topic", "subject", "last_error", "attempts"
    )
    return {
        str(row.pk): Told(
            f"{shown(row.topic, 60)} · {shown(row.subject, 80)}",
            _undelivered(row),
            nexts.of_other("outbox", row),
        )
        for row in rows
    }


def _undelivered(row: OutboxMessage) -> str:
    tried = plural(
        "not delivered after {number} try", "not delivered after {number} tries", row.attempts
    )
    return f"{tried}: {shown(row.last_error, 120)}" if row.last_error else tried


def _runs(ids: list[str]) -> dict[str, Told]:
    rows = Run.objects.filter(pk__in=ids).only(
        "workflow", "external_execution_id", "engine_status", "operator_note"
    )
    return {
        str(row.pk): Told(
            f"run of {actor(row.workflow, 80)}",
            _heard(row),
            nexts.of_other("run", row),
        )
        for row in rows
    }


def _heard(row: Run) -> str:
    if row.engine_status:
        return _("engine says {status}").format(status=shown(row.engine_status, 40))
    if not row.external_execution_id:
        return _("the engine cannot be asked: no execution is known")
    return _("the engine gave no answer")


def _keys(ids: list[str]) -> dict[str, Told]:
    following, late = nexts.of_other("key", None), _("held longer than it should be")
    return {pk: Told(shown(pk, 120), late, following) for pk in ids}


_TELL = {
    "conflict": _conflicts,
    "failed_job": _failed,
    "job": _jobs,
    "batch": _batches,
    "outbox": _outbox,
    "run": _runs,
    "key": _keys,
}
