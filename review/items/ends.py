"""How an item ended, or nearly: what is proposed, what was decided, and why nothing may be done."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models.fields.json import KT

from ledger.models import Conflict, FailedJob, Idem, Job
from review.items import reading
from review.items.around import attempted_names
from review.items.page import Decided, Proposal
from review.items.stories import version
from review.jsonvalue import inline
from review.language import _, later
from review.rights import APPROVE
from review.text import actor, listed, shown

# Where rights are asked for: Django's own tables.
_BACKEND = "django.contrib.auth.backends.ModelBackend"

# States nobody decided, in words.
_STATES = {
    "detected": later("just lost; the workflow may still try again"),
    "auto_resolved": later("the workflow tried again and won"),
    "folded": later("counted into a later attempt's item"),
}


def proposal_of(conflict: Conflict, *, allowed: bool) -> Proposal | None:
    """Return the decision that waits for a second person, if one does."""
    if conflict.proposed_by is None or conflict.state != "open":
        return None
    stored = reading.side(reading.text_of(conflict, "proposed")).value
    stored = stored if isinstance(stored, dict) else {}
    changes = stored.get("changes")
    if stored.get("decision") == "apply":
        changes = reading.side(reading.text_of(conflict, "attempted")).value
    lines = tuple(
        f"{shown(name, 60)}: {shown(inline(value, 160).text) if allowed else '••••'}"
        for name, value in (changes.items() if isinstance(changes, dict) else ())
    )
    others = User.objects.with_perm(APPROVE, backend=_BACKEND).filter(is_active=True)
    return Proposal(
        lonely=not others.exclude(username=conflict.proposed_by).exists(),
        by=actor(conflict.proposed_by, 80),
        at=conflict.proposed_at,
        decision=shown(stored.get("decision") or _("a decision"), 40),
        reason=shown(stored.get("reason") or "", 400),
        lines=lines,
    )


def proposal_of_letter(letter: FailedJob) -> Proposal | None:
    """Return the change of a dead letter that waits for a second person, if one does."""
    if letter.proposed_by is None:
        return None
    found = FailedJob.objects.filter(pk=letter.pk).annotate(reason_told=KT("proposed__reason"))
    reason = found.values_list("reason_told", flat=True).first()
    others = User.objects.with_perm(APPROVE, backend=_BACKEND).filter(is_active=True)
    return Proposal(
        lonely=not others.exclude(username=letter.proposed_by).exists(),
        by=actor(letter.proposed_by, 80),
        at=letter.proposed_at,
        decision=_("resend with the changed content below"),
        reason=shown(reason or "", 400),
    )


def decided_of(conflict: Conflict, job: Job | None, now: datetime) -> Decided | None:
    """Return what was decided, and until when it can be taken back."""
    if conflict.resolved_at is None:
        return None
    undo, wrote = None, _wrote(conflict)
    if conflict.kind == "unknown_send" and conflict.state == "resent" and job:
        undo = job.run_after if job.state == "queued" and job.run_after > now else None
    return Decided(
        state=conflict.state,
        decision=shown(conflict.decision or _STATES.get(conflict.state, conflict.state), 80),
        by=actor(conflict.resolved_by or _("the ledger"), 80),
        at=conflict.resolved_at,
        reason=shown(conflict.reason or "", 400),
        undo_until=undo,
        resulting=version(conflict.resulting_revision) if conflict.resulting_revision else "",
        approved_by=actor(conflict.second_approver or "", 80),
        wrote=_named(wrote),
        left=_named(name for name in attempted_names(conflict) if wrote and name not in wrote),
    )


def _wrote(conflict: Conflict) -> list[str]:
    """Return the fields a decision wrote."""
    resolution = reading.side(reading.text_of(conflict, "resolution")).value
    changes = resolution.get("changes") if isinstance(resolution, dict) else None
    return list(changes) if isinstance(changes, dict) else []


def _named(names: Iterable[str]) -> str:
    return listed([shown(name, 60) for name in names], most=6)


def left_alone(conflict: Conflict) -> bool:
    """Say whether a resent item still holds its key: nobody took it again, it may be given up."""
    if conflict.state != "resent" or not conflict.idem_key:
        return False
    pending = Idem.objects.filter(pk=conflict.idem_key, status="pending", job_id=None)
    newer = Conflict.objects.filter(idem_key=conflict.idem_key, id__gt=conflict.id)
    return pending.exists() and not newer.exists()


def closed(conflict: Conflict, decided: Decided | None) -> str:
    """Say why nothing at all may be decided, or nothing."""
    if decided and not decided.undo_until:
        return _("This item is decided.")
    if conflict.state == "detected":
        return _("The workflow may still try again; it opens for a person if it does not.")
    return ""
