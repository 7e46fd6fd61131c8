"""What the page of an item says of changing its content: the way there, and its versions."""

from dataclasses import replace

from django.contrib.admin.utils import quote
from django.urls import reverse
from django.utils import timezone

from ledger.models import Conflict, FailedJob, Job
from review.access import second_factor
from review.edits import versions
from review.edits.ways import closed, subject_of
from review.items.offers import User, lacking, without_second_factor
from review.items.page import ItemPage
from review.rights import EDIT_PAYLOAD, RESEND, VIEW_PAYLOAD

_RIGHTS = (EDIT_PAYLOAD, VIEW_PAYLOAD, RESEND)


def with_edits(page: ItemPage, row: Conflict | FailedJob | Job, user: User) -> ItemPage:
    """Add to the page of what sends something how its content was and may be changed."""
    job_id = row.id if isinstance(row, Job) else row.job_id
    job = Job.objects.only("body_sha256").filter(pk=job_id).first() if job_id else None
    allowed = user.has_perm(VIEW_PAYLOAD)
    return replace(
        page,
        versions=versions.of_item(page.source, page.item_id, job, allowed=allowed),
        edit=_way(row, user),
    )


def _way(row: Conflict | FailedJob | Job, user: User) -> tuple[str, str] | None:
    """Return the way to the form, or why there is none; nothing where nothing is to be decided."""
    if isinstance(row, Conflict):
        source, waits = "conflict", row.kind == "unknown_send" and row.state == "open"
    elif isinstance(row, FailedJob):
        source, waits = "failed_job", row.state in ("open", "exhausted")
    else:
        return None
    if not waits or row.proposed_by:
        return None
    why_not = closed(subject_of(source, row, timezone.now()))
    url = reverse("admin:review_edit", args=[source, quote(str(row.pk))])
    return (url, why_not or _missing(user))


def _missing(user: User) -> str:
    words = next((words for right in _RIGHTS if (words := lacking(user, right))), "")
    if not words and second_factor.missing(user, "resend"):
        return without_second_factor()
    return words
