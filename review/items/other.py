"""The page of anything else that waits: its facts, its timeline, its verbs, where to look."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from ledger.models import (
    ArchivedIdem,
    BatchRun,
    FailedJob,
    Idem,
    Job,
    OutboxMessage,
    Provider,
    Run,
    Workflow,
)
from ledger.models.base import GuardedModel
from review.decisions import Decision
from review.items import contents, job_facts, nexts, plain, standing, waits
from review.items.addresses import item_url
from review.items.ends import proposal_of_letter
from review.items.history import history
from review.items.offers import Places, User, needs_of, offer
from review.items.page import Fact, ItemPage, Next
from review.items.parts import Chip
from review.items.states import NOUNS, state_of
from review.language import _
from review.people import people_for
from review.rights import VIEW_PAYLOAD
from review.sources import SOURCES
from review.verbs import OWN_PROPOSAL, SECOND_OWN, SECOND_PERSON, UNKNOWN_KIND

MODELS: Mapping[str, type[GuardedModel]] = {
    "failed_job": FailedJob,
    "job": Job,
    "batch": BatchRun,
    "outbox": OutboxMessage,
    "run": Run,
    "key": Idem,
    "archived": ArchivedIdem,
}
_DEFERRED: Mapping[str, tuple[str, ...]] = {
    "failed_job": ("payload", "event", "proposed"),
    "job": ("payload", "event", "last_close"),
    "outbox": ("payload",),
    "run": ("result", "late_result"),
    "key": ("result",),
    "archived": ("result",),
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


def page(
    source: str,
    row: Any,
    user: User,
    form: Mapping[str, str] | None = None,
    before: str = "",
) -> ItemPage:
    """Build the page for this person; form holds what was typed so far, before where to look back.

    A row that waits for nobody is told as what it is; nothing is asked about it.
    """
    now, kind = timezone.now(), SOURCES.get(source, UNKNOWN_KIND)
    title, story, facts = waits.TELL[source](row)
    waiting = getattr(row, "waiting_since", None) is not None
    chip = Chip(kind.label, kind.tone, kind.icon)
    decided = standing.decided_of(source, row)
    if not waiting and not decided:
        (title, story), chip = plain.TELL[source](row), state_of(source, row)
    if not waiting:
        kind = replace(kind, label=NOUNS[source])
    stand = standing.standing_of(source, row, now)
    closed = stand.closed and (decided or not waiting)
    beside = _Beside(source, row, user, now)
    ways, places = beside.ways(kind.decisions, stand.places)
    offers = [] if closed else offer(ways, (source, str(row.pk)), user, places, stand.closed)
    subject = standing.subject_of(source, row)
    past = history(people_for(user), subject, beside.job_id, before)
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
        chips=[chip],
        facts=[fact for fact in beside.facts or facts if fact.value or fact.at],
        timeline=past.entries,
        older=past.older,
        opened_at=row.waiting_since if waiting else None,
        next=Next(nexts.of_other(source, row, again="resend" not in stand.forbidden))
        if waiting
        else None,
        payloads=contents.of_other(
            source,
            row,
            allowed=user.has_perm(VIEW_PAYLOAD),
            again="resend" not in stand.forbidden,
        ),
        proposal=beside.proposal,
        links=_links(source, row),
        lease=beside.lease,
        send=beside.send,
    )


class _Beside:
    """What is read beside a row: of a job its provider, its workflow, its sends; a proposal."""

    def __init__(self, source: str, row: Any, user: User, now: datetime) -> None:
        self.facts: list[Fact] = []
        self.send, self.lease, self.job_id = None, None, ""
        self.proposal = proposal_of_letter(row) if source == "failed_job" else None
        self.own = bool(self.proposal) and row.proposed_by == user.get_username()
        if source != "job":
            return
        provider = Provider.objects.filter(pk=row.provider).first()
        workflow = Workflow.objects.filter(pk=row.workflow).first()
        self.job_id = row.id
        self.facts = job_facts.facts(row, provider, workflow)
        self.lease = job_facts.lease(row, now)
        self.send = job_facts.send(row, provider, workflow, now)

    def ways(
        self, decisions: Sequence[Decision], places: Places
    ) -> tuple[Sequence[Decision], Places]:
        """Return what may be decided: of a proposal, whether it is carried out."""
        if self.proposal is None:
            return decisions, places
        words = {**places.words, "proposer": self.proposal.by}
        if self.own:
            return SECOND_OWN, Places(words, {"approve": OWN_PROPOSAL})
        return SECOND_PERSON, Places(words)


def _links(source: str, row: Any) -> list[tuple[str, str]]:
    """Lead to what belongs to a row, and to every column of it."""
    if source == "job":
        links = job_facts.links(row)
    else:
        links = [(_("The job"), item_url("job", row.job_id))] if getattr(row, "job_id", "") else []
        if name := standing.subject_of(source, row).get("key"):
            links.append(job_facts.audit_of("key", name))
    model = MODELS[source]._meta.model_name
    if source != "archived":
        links.append((_("The whole row"), reverse(f"admin:ledger_{model}_change", args=[row.pk])))
    return links
