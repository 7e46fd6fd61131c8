"""The jobs: every piece of guarded work, by what it waits for."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from ledger.models import Job
from review.explore.shapes import HITS, Line, Listing, Look, Tab, event_of, keys_named
from review.items.addresses import item_url
from review.items.states import state_of
from review.language import _, later
from review.text import actor, shown


def _jobs() -> QuerySet[Job]:
    return Job.objects.defer("payload", "event", "last_close")


def _find(text: str) -> Sequence[Job]:
    found = list(_jobs().filter(pk=text)[:1])
    keys = keys_named(text)
    found += _jobs().filter(idem_key__in=keys).exclude(pk=text).order_by("-created_at")[:HITS]
    return found


def why_of(job: Job, now: datetime) -> str:
    """Say in one line what a job waits for, or how it ended."""
    if job.state == "queued":
        due = _("due: any free worker takes it") if job.run_after <= now else _("not due yet")
        return "; ".join([due, *_failed(job)])
    if job.state in ("claimed", "sweeping"):
        sent = _("marked as being sent") if job.marker_at else _("not marked as sent")
        over = job.lease_expires_at is not None and job.lease_expires_at <= now
        return "; ".join(
            [sent, _("its lease is over, the next sweep takes it")] if over else [sent]
        )
    if job.state == "review":
        return _("it may have been sent; decide it from the queue")
    if job.state == "done":
        named = _("reference {reference}").format(reference=shown(job.provider_ref, 80))
        return named if job.provider_ref else _("it is finished")
    return shown(job.last_error, 160) or _("no error was kept")


def _failed(job: Job) -> list[str]:
    error = shown(job.last_error, 120)
    return [_("failed before: {error}").format(error=error)] if error else []


def _when(job: Job) -> datetime:
    if job.state == "queued":
        return job.run_after
    return job.lease_expires_at or job.done_at or job.updated_at


def _line(job: Job, look: Look) -> Line:
    last = [f"{actor(job.workflow, 60)} → {shown(job.provider, 60)}"]
    if job.attempts > 1:
        last.append(_("attempt {number}").format(number=job.attempts))
    return Line(
        what=f"{shown(job.effect, 60)} {event_of(job.idem_key, job.effect)}",
        url=item_url("job", job.id),
        why=why_of(job, look.now),
        chips=(state_of("job", job),),
        at=_when(job),
        late=job.lease_expires_at is not None and job.lease_expires_at <= look.now,
        last=" · ".join(last),
    )


JOBS = Listing(
    title=later("Jobs"),
    story=later(
        "Every effect a workflow asked for is a job: it waits, is held by one worker, and ends. "
        "Open one to see who held it, what was sent, and what the provider said."
    ),
    heads=(later("Job"), later("State"), later("Workflow → provider")),
    finds=later("Find a job by its id, key or event id"),
    tabs={
        "": Tab(
            later("Queued"),
            lambda: _jobs().filter(ready_at__isnull=False),
            ("ready_at", "created_at", "id"),
            later("the one that is due first, first"),
            when=later("Due"),
            empty=later("No job waits for a worker. A workflow queues one with enqueue_job."),
        ),
        "held": Tab(
            later("Held"),
            lambda: _jobs().filter(lease_expires_at__isnull=False),
            ("lease_expires_at", "id"),
            later("the lease that ends first, first"),
            when=later("Lease ends"),
            empty=later("No worker holds a job at the moment."),
        ),
        "late": Tab(
            later("Lease over"),
            lambda: _jobs().filter(lease_expires_at__lte=timezone.now()),
            ("lease_expires_at", "id"),
            later("the longest over, first"),
            when=later("Lease ended"),
            empty=later(
                "No lease is over: nothing waits for the sweep. If this list grows, look at "
                "Sweeps & locks: the sweep does not run."
            ),
        ),
        "untaken": Tab(
            later("Nobody takes them"),
            lambda: _jobs().filter(waiting_since__isnull=False),
            ("waiting_since", "id"),
            later("the longest waiting, first"),
            when=later("Due"),
            empty=later("Every job that is due is taken in time."),
        ),
        "finished": Tab(
            later("Finished"),
            lambda: _jobs().filter(state__in=["done", "abandoned"]),
            ("-created_at", "-id"),
            later("the newest first"),
            when=later("Ended"),
            empty=later("No job has ended yet."),
        ),
    },
    find=_find,
    line=_line,
    beside=(
        (later("Uncertain sends"), "review_queue", "?tab=sends"),
        (later("Dead letters"), "review_list", "dead-letters"),
    ),
)
