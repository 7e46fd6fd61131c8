"""Every version of a content: kept before it is sent, and listed with what came of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import Q
from django.db.models.fields.json import KT

from ledger.models import AuditEvent, Job
from review.compare import Comparison, compare
from review.errors import IncompleteError
from review.items import reading
from review.items.addresses import item_url
from review.items.fields import in_two_columns
from review.items.parts import Column, ContentVersion, FieldPart
from review.jsonvalue import MISSING
from review.language import _, inside, later
from review.models import PayloadVersion
from review.outcomes import words
from review.text import shown

_OPERATIONS: Final = ("decide_failed_job", "decide_conflict", "approve_decision")
_KEYS: Final = {"same": later("the same key"), "new": later("a new key")}
_CAME: Final = {"won": later("queued to be sent"), "needs_second_person": later("proposed")}
# An item that was changed more often than this is not corrected but guessed at.
MOST: Final = 40


@dataclass(frozen=True, slots=True)
class Made:
    """A version to keep: who made it of what, why, and under which event's key."""

    item: tuple[str, str]
    by: str
    reason: str
    body: str
    event: str = ""


def keep(made: Made, came: str) -> str:
    """Keep a version and, before the first one, the content as it came; return the digest."""
    source, item_id = made.item
    kept = PayloadVersion.objects.filter(source=source, item_id=item_id).order_by("-id")
    found = list(kept.values_list("sha256", "event", "by")[:MOST])
    sha256 = digest(made.body)
    if found and found[0] == (sha256, made.event, made.by):
        return sha256
    if len(found) >= MOST:
        enough = _("It has {number} versions already. Decide it otherwise.")
        raise IncompleteError({"payload": enough.format(number=MOST)})
    same: dict[str, Any] = {"source": source, "item_id": item_id}
    if not found and came:
        PayloadVersion.objects.create(**same, sha256=digest(came), body=came)
    PayloadVersion.objects.create(
        **same,
        sha256=sha256,
        parent_sha256=digest(came) if came else "",
        body=made.body,
        event=made.event,
        by=made.by,
        reason=made.reason,
    )
    return sha256


def digest(text: str) -> str:
    """Return the SHA-256 of a text's bytes, as the ledger names what it keeps."""
    return hashlib.sha256(text.encode()).hexdigest()


def of_item(
    source: str, item_id: str, job: Job | None, *, allowed: bool
) -> tuple[ContentVersion, ...]:
    """List the versions of an item's content, oldest first; the job's own, if one made it."""
    mine = Q(source=source, item_id=item_id)
    if job is not None and job.body_sha256:  # the new job of a change names no older item
        mine |= Q(sha256=bytes(job.body_sha256).hex(), event__gt="")
    rows = list(PayloadVersion.objects.filter(mine).order_by("id")[: MOST + 2])
    asked = _asked_of(job.id) if job else {}
    before = PayloadVersion.objects.filter(sha256__in={row.parent_sha256 for row in rows} - {""})
    texts = dict(before.values_list("sha256", "body"))
    found = [
        ContentVersion(
            number=0,
            by=row.by,
            at=row.at,
            reason=shown(row.reason, 400),
            sha256=row.sha256,
            key=_KEYS["new" if row.event else "same"],
            item=_older_item(source, item_id, row),
            came=_came_of(asked.get(row.sha256)) if row.by else "",
            part=difference(texts.get(row.parent_sha256, ""), row.body, allowed=allowed)
            if row.by
            else None,
        )
        for row in rows
    ]
    kept = {row.sha256 for row in rows}
    found += [_by_program(sha256, each) for sha256, each in asked.items() if sha256 not in kept]
    found.sort(key=lambda each: each.at)
    return tuple(replace(each, number=number) for number, each in enumerate(found, start=1))


def _by_program(sha256: str, told: AuditEvent) -> ContentVersion:
    """Tell of a content that came to the ledger without this console; its bytes are kept there."""
    return ContentVersion(
        number=0,
        by=told.actor,
        at=told.at,
        reason=shown(told.reason, 400),
        sha256=sha256,
        key=_KEYS.get(str(reading.text_of(told, "key")), ""),
        came=_came_of(told),
    )


def _older_item(source: str, item_id: str, row: PayloadVersion) -> tuple[str, str] | None:
    """Lead to the item whose content was changed, where this is the new job of it."""
    if (row.source, row.item_id) == (source, item_id):
        return None
    if row.source == "conflict":
        name = _("the uncertain send {item}")
    else:
        name = _("the dead letter {item}")
    return (name.format(item=shown(row.item_id, 40)), item_url(row.source, row.item_id))


def _asked_of(job_id: str) -> Mapping[str, AuditEvent]:
    """Return the newest answer of the ledger to each changed content of a job."""
    rows = (
        AuditEvent.objects.filter(job_id=job_id, op__in=_OPERATIONS)
        .defer("before", "after", "row_hash")
        .annotate(edited_text=KT("after__edited"), key_text=KT("after__key"))
        .filter(edited_text__isnull=False)
        .order_by("-at", "-id")
    )
    newest: dict[str, AuditEvent] = {}
    for row in reversed(list(rows[:MOST])):
        newest[str(reading.text_of(row, "edited"))] = row
    return newest


def _came_of(told: AuditEvent | None) -> str:
    """Say what became of a content that somebody asked to be sent."""
    if told is None:
        return _("not sent")
    if told.outcome in _CAME:
        return str(_CAME[told.outcome])
    title = words(told.outcome).title
    return _("refused: {why}").format(why=inside(title))


def difference(old: str, new: str, *, allowed: bool = True) -> FieldPart:
    """Compare two contents as texts; secrets stay masked."""
    sides = [reading.masked_side(text) if text else MISSING for text in (old, new)]
    return difference_of(sides[0], sides[1], allowed=allowed)


def difference_of(old: Any, new: Any, *, allowed: bool = True) -> FieldPart:
    """Compare two contents: what was changed, added and taken out."""
    found = compare(old, new, old)
    gone = [row for row in compare(old, new, new).rows if row.attempted.type == "missing"]
    comparison = Comparison(
        (*found.rows, *gone),
        tuple(row for row in found.same if row.name not in {each.name for each in gone}),
        found.left_out,
        whole=found.whole,
    )
    return in_two_columns((Column(_("Before")), Column(_("After"))), comparison, allowed=allowed)
