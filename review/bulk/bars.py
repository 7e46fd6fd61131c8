"""Why a choice is not for a single item, found for all items of a set in a few queries.

What stands here is a courtesy before the start, as on an item's own page: the ledger decides again
when the item's turn comes.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Exists, Max, OuterRef

from ledger.models import BatchRun, Conflict, FailedJob, Job, PayloadBody, Provider
from review.items.sends import may_redrive
from review.items.standing import UNDER_WAY
from review.text import shown

# By the word of a choice, why not.
type Bars = dict[str, str]

_LATER: Final = "A later one of its lane is done: this one holds older data. Decide it alone."
_UNREADABLE: Final = "What came could not be read, so nothing can be sent from it."
_NAMES_NOTHING: Final = "It names neither a job nor an event with its effect."
_SEEN: Final = "Somebody has seen it."
_PROPOSED: Final = "A change of it waits for a second person, on its page."
_NOT_FAILED: Final = "Only a failed import is acknowledged."
_JOB: Final = (
    *("state", "provider", "first_marked_at", "lease_seconds", "serial_key", "created_at"),
)


def find(items: Iterable[tuple[str, str]], now: datetime) -> dict[tuple[str, str], Bars]:
    """Return the bars of items (source, id); most have none."""
    ids: dict[str, list[str]] = {}
    for source, item_id in items:
        ids.setdefault(source, []).append(item_id)
    found: dict[tuple[str, str], Bars] = {}
    for source, look in _LOOK.items():
        if source in ids:
            found |= {(source, pk): bars for pk, bars in look(ids[source], now).items() if bars}
    return found


def _sends(ids: list[str], now: datetime) -> dict[str, Bars]:
    """Leave a second send that its provider may take out of every set."""
    rows = Conflict.objects.filter(pk__in=ids, kind="unknown_send").values_list("pk", "job_id")
    behind = dict(rows)
    jobs = Job.objects.only(*_JOB).in_bulk([job for job in behind.values() if job])
    risky = _Risk(jobs.values(), now)
    return {
        str(pk): {"resend": why}
        for pk, job_id in behind.items()
        if (job := jobs.get(job_id or "")) and (why := risky.overtaken(job) or risky.twice(job))
    }


class _Risk:
    """Whether sending a job again could do it twice or bring older data, for many jobs."""

    def __init__(self, jobs: Iterable[Job], now: datetime) -> None:
        jobs = list(jobs)
        self._now = now
        self._providers = Provider.objects.in_bulk({job.provider for job in jobs})
        lanes = {job.serial_key for job in jobs if job.serial_key is not None}
        done = Job.objects.filter(serial_key__in=lanes, state="done").order_by()
        self._later = dict(
            done.values("serial_key").annotate(at=Max("created_at")).values_list("serial_key", "at")
        )

    def overtaken(self, job: Job) -> str:
        """Say that a later one of its lane is done, or nothing."""
        later = self._later.get(job.serial_key)
        return _LATER if later is not None and later > job.created_at else ""

    def twice(self, job: Job) -> str:
        """Say that its provider may take it twice, or nothing."""
        if may_redrive(job, self._providers.get(job.provider), self._now):
            return ""
        return (
            f"{shown(job.provider, 60)} may take it twice: such a send is decided one at a time, "
            "with the risk accepted."
        )


def _letters(ids: list[str], now: datetime) -> dict[str, Bars]:
    lost = PayloadBody.objects.filter(sha256=OuterRef("payload_sha256"), parse_error__isnull=False)
    evented = FailedJob.objects.filter(pk=OuterRef("pk"), event__isnull=False)
    rows = list(
        FailedJob.objects.filter(pk__in=ids)
        .only("job_id", "effect", "acked_at", "proposed_by")
        .annotate(unread=Exists(lost), evented=Exists(evented))
    )
    jobs = Job.objects.only(*_JOB).in_bulk([row.job_id for row in rows if row.job_id])
    risky = _Risk(jobs.values(), now)
    found: dict[str, Bars] = {}
    for row in rows:
        job = jobs.get(row.job_id or "")
        bars = {
            "resend": _against_letter(row, job, risky),
            "acknowledge": _SEEN if row.acked_at else "",
        }
        found[str(row.pk)] = {word: why for word, why in bars.items() if why}
    return found


def _against_letter(row: FailedJob, job: Job | None, risky: _Risk) -> str:
    if row.proposed_by:
        return _PROPOSED
    if job is None:
        if getattr(row, "unread", False):
            return _UNREADABLE
        return "" if row.effect and getattr(row, "evented", False) else _NAMES_NOTHING
    if job.state in UNDER_WAY:
        return f"Its job is {job.state}, so it is under way already."
    return risky.overtaken(job) or (risky.twice(job) if job.first_marked_at else "")


def _batches(ids: list[str], _now: datetime) -> dict[str, Bars]:
    going = BatchRun.objects.filter(pk__in=ids).exclude(status="failed")
    return {str(pk): {"acknowledge": _NOT_FAILED} for pk in going.values_list("pk", flat=True)}


_LOOK: Mapping[str, Callable[[list[str], datetime], dict[str, Bars]]] = {
    "conflict": _sends,
    "failed_job": _letters,
    "batch": _batches,
}
