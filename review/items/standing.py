"""How an item that is no conflict stands: may it be decided, how did it end, what forbids what.

Pure but for the audit row and the job that are read beside it. The ledger decides again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.urls import reverse

from ledger.models import (
    AuditEvent,
    BatchRun,
    Conflict,
    FailedJob,
    Job,
    OutboxMessage,
    Provider,
    Run,
)
from review.items import reading, sends
from review.items.offers import Places
from review.items.page import Decided
from review.language import _
from review.sources import SOURCES
from review.text import actor, shown

# The operation that ends an item of a source.
OPERATIONS: Mapping[str, str] = {
    "failed_job": "decide_failed_job",
    "job": "decide_queued_job",
    "batch": "decide_batch",
    "outbox": "decide_outbox",
    "run": "decide_run",
}


# States in which a job is worked on or soon will be: it is not sent anew.
UNDER_WAY = ("queued", "claimed", "sweeping")


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a row may be decided now; words and reasons for its buttons."""

    closed: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    forbidden: Mapping[str, str] = field(default_factory=dict)

    @property
    def places(self) -> Places:
        """Return what the buttons' sentences are filled with."""
        return Places(self.words, self.forbidden)


def standing_of(source: str, row: Any, now: datetime) -> Standing:
    """Say how a row stands; a key has no decision of its own."""
    stand = _STAND.get(source)
    return stand(row, now) if stand else Standing()


def _failed_job(row: FailedJob, now: datetime) -> Standing:
    job = Job.objects.only(*_JOB_FACTS).filter(pk=row.job_id).first() if row.job_id else None
    closed = {
        "retrying": _("It is being tried again; it comes back here if it fails again."),
        "resolved": _("It is resolved."),
        "abandoned": _("It is abandoned."),
    }.get(row.state, "")
    forbidden = {}
    if row.acked_at:
        forbidden["acknowledge"] = _("Somebody has seen it.")
    if job is None and reading.unreadable_because(row.payload_sha256):
        forbidden["resend"] = _(
            "What came could not be read, so nothing can be sent from it. Redo the work, then "
            "acknowledge or abandon it."
        )
    elif job is None and not (row.effect and _has_event(row)):
        forbidden["resend"] = _(
            "It names neither a job nor an event with its effect, so nothing can be sent again. "
            "Redo the work, then acknowledge or abandon it."
        )
    elif job and job.state in UNDER_WAY:
        under_way = _("Its job is {state}, so it is under way already.")
        forbidden["resend"] = under_way.format(state=job.state)
    if job is not None and job.state == "dead":
        abandon = _(
            "Gives it up. Landed sends nothing more. Its job and key close for good; a redelivery "
            "gets this answer."
        )
    else:
        abandon = _("Gives it up. Landed sends nothing more.")
    words = {"resend": _resend_words(row, job, now), "abandon": abandon}
    return Standing(closed, words, forbidden)


def _has_event(row: FailedJob) -> bool:
    return FailedJob.objects.filter(pk=row.pk, event__isnull=False).exists()


_JOB_FACTS = (
    "state",
    "provider",
    "first_marked_at",
    "send_no",
    "lease_seconds",
    "serial_key",
    "created_at",
)


def _resend_words(row: FailedJob, job: Job | None, now: datetime) -> str:
    if job is None:
        return _("Enters the event under its key; if it was done before, nothing is sent again.")
    provider = Provider.objects.filter(pk=job.provider).first()
    if older := sends.overtaken_words(sends.overtaken_by(job)):
        words = _("Sends nothing now: {why} It becomes a question, to be decided by what is known.")
        return words.format(why=older.rstrip())
    if job.first_marked_at is None and job.send_no:
        words = _(
            "Queues the job again, same key, same content. Its latest try was never marked as sent "
            "to {provider}."
        )
    elif job.first_marked_at is None:
        words = _(
            "Queues the job again, same key, same content. It was never marked as sent to "
            "{provider}."
        )
    elif sends.may_redrive(job, provider, now):
        words = _("Queues the job again, same key, same content; {provider} refuses a repeat.")
    else:
        words = _(
            "Sends nothing now: {provider} may have it already. It becomes an uncertain send, to "
            "be decided by what is known."
        )
    return words.format(provider=shown(job.provider, 60))


def _job(row: Job, _now: datetime) -> Standing:
    closed = {
        "claimed": _("A worker holds it now."),
        "sweeping": _("The sweeper looks at it now."),
        "review": _("It became an uncertain send; decide that."),
        "dead": _("It became a dead letter; decide that."),
        "done": _("The job is done."),
        "abandoned": _("The job is abandoned."),
    }.get(row.state, "")
    if sends.was_marked(row):
        abandon = _(
            "Closes the job and its key for good. Landed sends nothing more, though it may have "
            "been sent before; a redelivery gets this answer."
        )
    else:
        abandon = _(
            "Closes the job and its key for good. Landed sends nothing more; a redelivery gets "
            "this answer."
        )
    return Standing(closed, {"workflow": actor(row.workflow, 60), "abandon": abandon})


def _batch(row: BatchRun, now: datetime) -> Standing:
    closed = ""
    if row.status == "complete":
        closed = _("The import is complete.")
    elif row.acked_at:
        closed = _("Somebody has ended or seen it.")
    forbidden = {}
    if row.status != "failed":
        forbidden["acknowledge"] = _("Only a failed import is acknowledged; mark it failed first.")
    if row.status != "running":
        forbidden["mark_failed"] = _("It has failed already.")
    elif row.lease_expires_at and row.lease_expires_at > now:
        forbidden["mark_failed"] = _("Its worker gave a sign of life and still holds it.")
    cursor = _("the beginning")
    if row.last_cursor:
        cursor = _("cursor {cursor}").format(cursor=shown(row.last_cursor, 60))
    return Standing(closed, {"workflow": actor(row.workflow_name, 60), "cursor": cursor}, forbidden)


def _outbox(row: OutboxMessage, _now: datetime) -> Standing:
    closed = ""
    if row.dropped_at:
        closed = _("It was dropped.")
    elif row.published_at:
        closed = _("It was delivered.")
    elif row.given_up_at is None:
        closed = _("It is being tried; it comes back here if that fails.")
    return Standing(closed, {"topic": shown(row.topic, 60), "subject": shown(row.subject, 80)})


def _run(row: Run, _now: datetime) -> Standing:
    known = row.external_execution_id
    forbidden = {}
    if not known:
        forbidden["request_stop"] = _("No execution is known. Attach it first.")
        forbidden["check_engine"] = _("No execution is known. Attach it first.")
    if not row.needs_operator:
        forbidden["clear_flag"] = _("It is not flagged.")
        if known:
            forbidden["attach_execution"] = _("Its execution is known.")
    ended = _("The run has ended: {status}.").format(status=row.status)
    return Standing(
        "" if row.status == "running" else ended,
        {"execution": shown(known or _("(none)"), 60)},
        forbidden,
    )


_STAND: Mapping[str, Callable[[Any, datetime], Standing]] = {
    "failed_job": _failed_job,
    "job": _job,
    "batch": _batch,
    "outbox": _outbox,
    "run": _run,
}


def subject_of(source: str, row: Any) -> dict[str, str]:
    """Return what the audit rows of this item are found by."""
    if source == "job":
        return {"key": row.idem_key, "job_id": row.id}
    if source in ("key", "archived"):
        return {"key": row.idem_key}
    if source == "outbox":
        return {"key": f"{row.topic}:{row.key}"}
    if source in ("batch", "run"):
        return {"key": f"{source}:{row.pk}"}
    return {"job_id": row.job_id} if row.job_id else {}


def decided_of(source: str, row: Any) -> Decided | None:
    """Return what a person decided about a row that does not wait any more."""
    if source not in OPERATIONS or row.waiting_since is not None:
        return None
    if source == "batch" and row.acked_at is None:  # decided once, and started again since
        return None
    if source == "failed_job":
        return _of_letter(row)
    found = (
        AuditEvent.objects.filter(op=OPERATIONS[source], outcome="won", **subject_of(source, row))
        .annotate(after_text=reading.json_text("after", 4_000))
        .defer("before", "after", "row_hash")
        .order_by("-at", "-id")
        .first()
    )
    if found is None:
        return None
    after = reading.side(reading.text_of(found, "after")).value
    decision = after.get("decision") if isinstance(after, dict) else None
    return _decided(source, decision, by=found.actor, at=found.at, reason=found.reason)


def _of_letter(row: FailedJob) -> Decided | None:
    at = row.resolved_at or row.acked_at
    if at is None:
        return None
    by = row.resolved_by if row.resolved_at else row.acked_by
    decision = {"abandoned": "abandon", "resolved": "resolved"}.get(row.state, "acknowledge")
    return _decided("failed_job", decision, by=by, at=at, reason=row.reason)


def _decided(
    source: str, decision: object, *, by: str | None, at: datetime, reason: str | None
) -> Decided:
    labels = {each.decision: each.label for each in SOURCES[source].decisions}
    return Decided(
        state="abandoned" if decision in ("abandon", "drop") else "",
        decision=str(labels.get(str(decision), shown(decision, 80))),
        by=actor(by or _("the ledger"), 80),
        at=at,
        reason=shown(reason or "", 400),
    )


def instead_of(source: str, row: Any) -> tuple[str, str] | None:
    """Return the item to decide in place of this one: the conflict that holds its key or job."""
    condition = Q()
    if source in ("job", "key"):
        condition |= Q(idem_key=row.idem_key)
    if source == "failed_job" and row.job_id:
        condition |= Q(job_id=row.job_id)
    if not condition:
        return None
    conflicts = Conflict.objects.filter(condition).only("id", "kind").order_by("-id")
    found = conflicts.filter(state__in=["open", "detected"]).first()
    if found is None and source == "key" and row.status == "pending":
        found = conflicts.filter(state="resent").first()
    if found is None:
        return None
    name = _("item {number}").format(number=found.id)
    return name, reverse("admin:review_item", args=["conflict", found.id])
