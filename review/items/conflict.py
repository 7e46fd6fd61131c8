"""Assembles the page of one conflict from the parts its kind needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from ledger.models import Conflict, Effect, Job, Policy, Provider, RecordHistory, Workflow
from review.items import fields as compare_part
from review.items import reading, sends, timeline
from review.items.facts import chips_of, detail_facts, facts_of, four_of
from review.items.offers import Places, User, offer
from review.items.page import Decided, ItemPage, Payload, Proposal, Version
from review.items.stories import Story, record_of, version
from review.jsonvalue import inline
from review.roles import VIEW_PAYLOAD
from review.text import listed, shown
from review.verbs import KINDS, SECOND_PERSON, UNKNOWN_KIND, WITHDRAW

FIELD_KINDS = frozenset({"stale_version", "rule_failed", "not_owner_of_field", "bad_transition"})
_MISMATCH_COLUMNS = {
    "payload_mismatch": ("Stored", "Came later"),
    "result_mismatch": ("Stored result", "Second result"),
}
# An event longer than this is typed anew, not edited in a form field.
_EVENT_LIMIT = 4_000
_STATES = {
    "detected": "just lost; the workflow may still try again",
    "auto_resolved": "the workflow tried again and won",
    "folded": "counted into a later attempt's item",
}


@dataclass(frozen=True, slots=True)
class Around:
    """What was read beside the conflict's own row."""

    job: Job | None
    provider: Provider | None
    workflow: Workflow | None
    effect: Effect | None
    now: RecordHistory | None
    revision_column: str
    versions: list[Version]
    alike: int


def find(conflict_id: int) -> Conflict | None:
    """Return a conflict with its JSON as bounded text, or None."""
    return reading.conflict_query().filter(pk=conflict_id).first()


def page(conflict: Conflict, user: User, form: Mapping[str, str] | None = None) -> ItemPage:
    """Build the page of a conflict for this person; form holds choices made so far."""
    now = timezone.now()
    around = _read_around(conflict)
    kind = KINDS.get(conflict.kind, UNKNOWN_KIND)
    allowed = user.has_perm(VIEW_PAYLOAD)  # type: ignore[union-attr]
    names = attempted_names(conflict)
    owned = reading.owners(conflict.target, names) if conflict.target and names else {}
    story = Story(conflict, names, around.versions, _story_facts(conflict, around, owned))
    proposal = _proposal(conflict, allowed=allowed)
    choosing = conflict.state == "open" and proposal is None
    part = _field_part(conflict, around, owned, form, choosing=choosing, allowed=allowed)
    send = (
        sends.send_part(around.job, around.provider, around.workflow, _holder(conflict), now)
        if conflict.kind == "unknown_send" and around.job
        else None
    )
    decided = _decided(conflict, around.job, now)
    decisions = SECOND_PERSON if proposal else (WITHDRAW,) if decided else kind.decisions
    places = _places(conflict, around, part, now, proposal)
    offers = offer(decisions, conflict.id, user, places, _closed(conflict, decided, proposal, user))
    return ItemPage(
        source="conflict",
        item_id=str(conflict.id),
        kind=kind,
        title=story.title,
        story=story.text,
        chips=chips_of(conflict, kind, around.provider, around.alike),
        facts=[
            *facts_of(conflict, around.job, around.provider, around.workflow, now),
            *detail_facts(_detail(conflict)),
        ],
        timeline=timeline.of_conflict(conflict, around.versions),
        four=four_of(conflict),
        offers=[] if decided and not decided.undo_until else offers,
        needs=frozenset(
            need for each in offers if not each.disabled for need in each.decision.needs
        ),
        inputs=form if form is not None else _first_inputs(conflict, allowed=allowed),
        lock_version=conflict.lock_version,
        revision_seen=str(around.now.revision) if around.now else conflict.version_found or "",
        opened_at=conflict.waiting_since or conflict.created_at,
        fields=part,
        send=send,
        payloads=_payloads(conflict, around, allowed=allowed),
        proposal=proposal,
        decided=decided,
    )


def attempted_names(conflict: Conflict) -> list[str]:
    """Return the fields a refused write wanted to change."""
    if not conflict.target:
        return []
    attempted = reading.side(conflict.attempted_text).value
    return sorted(attempted) if isinstance(attempted, dict) else []


def record_named(conflict: Conflict) -> tuple[str | None, str | None]:
    """Return the record an item is about, also where only the parked item names it."""
    if conflict.target:
        return conflict.target, conflict.record_key
    parked = reading.side(conflict.attempted_text, wrapped=True).value
    names = [
        parked.get(key) if isinstance(parked, dict) else None for key in ("target", "record_key")
    ]
    target, key = (name if isinstance(name, str) else None for name in names)
    return (target, key) if target and key else (None, None)


def _read_around(conflict: Conflict) -> Around:
    job = reading.job_query().filter(pk=conflict.job_id).first() if conflict.job_id else None
    record = record_named(conflict)
    inside = bool(record[0] and record[1] and not conflict.external)
    return Around(
        job=job,
        provider=Provider.objects.filter(pk=job.provider).first() if job else None,
        workflow=Workflow.objects.filter(pk=conflict.workflow).first(),
        effect=Effect.objects.filter(pk=conflict.effect).first() if conflict.effect else None,
        now=reading.latest(*record) if inside else None,  # type: ignore[arg-type]
        revision_column=reading.revision_column(conflict.target) if inside else "",
        versions=reading.history(*record, conflict.version_read) if inside else [],  # type: ignore[arg-type]
        alike=(
            Conflict.objects.filter(target=conflict.target, record_key=conflict.record_key)[
                :100
            ].count()
            if conflict.target
            else 0
        ),
    )


def _holder(conflict: Conflict) -> str:
    """Return who held the job when it was lost, as the ledger remembered it."""
    remembered = reading.side(conflict.current_snapshot_text).value
    name = remembered.get("owner_name") if isinstance(remembered, dict) else None
    return f"worker {shown(name, 60)}" if isinstance(name, str) and name else "the worker"


def _detail(conflict: Conflict) -> dict[str, Any]:
    value = reading.side(conflict.detail_text).value
    return value if isinstance(value, dict) else {}


def _story_facts(
    conflict: Conflict, around: Around, owned: Mapping[str, tuple[list[str], bool]]
) -> dict[str, Any]:
    detail = _detail(conflict)
    foreign = [
        name
        for name in attempted_names(conflict)
        if conflict.workflow not in owned.get(name, ([], False))[0]
    ]
    owners = sorted({name for field in foreign for name in owned.get(field, ([], False))[0]})
    facts: dict[str, Any] = {
        **{key: detail[key] for key in ("constraint", "path") if isinstance(detail.get(key), str)},
        "effect_title": around.effect.title if around.effect else None,
        "foreign": foreign,
        "owners": owners,
        "move": _move(conflict, detail),
    }
    if around.job:
        facts["provider"] = shown(around.job.provider, 60)
        facts["marked"] = around.job.first_marked_at is not None
        facts |= sends.class_words(around.provider)
    return facts


def _move(conflict: Conflict, detail: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the status step that was refused, where the ledger recorded it."""
    if conflict.kind != "bad_transition":
        return None
    steps = [detail.get(key) for key in ("from", "to")]
    return (steps[0], steps[1]) if all(isinstance(step, str) for step in steps) else None


def _field_part(
    conflict: Conflict,
    around: Around,
    owned: Mapping[str, tuple[list[str], bool]],
    form: Mapping[str, str] | None,
    *,
    choosing: bool,
    allowed: bool,
) -> Any:
    if conflict.kind in FIELD_KINDS:
        return compare_part.field_part(
            conflict,
            around.now,
            around.revision_column,
            around.versions,
            owned,
            form,
            choosing=choosing,
            allowed=allowed,
        )
    if conflict.kind in _MISMATCH_COLUMNS:
        return compare_part.two_sided(conflict, _MISMATCH_COLUMNS[conflict.kind], allowed=allowed)
    return None


def _payloads(conflict: Conflict, around: Around, *, allowed: bool) -> list[Payload]:
    found = []
    if around.job:
        found.append(reading.payload_of_job(around.job, allowed=allowed))
    texts = [("Event", conflict.event_text)]
    if conflict.kind in ("missing_key", "lost_claim", "lost_record"):
        texts.insert(0, ("What came", conflict.attempted_text))
    for label, text in texts:
        if text is not None:
            wrapped = label == "What came" and conflict.target is None
            seen = reading.preview(label, text if allowed else "", wrapped=wrapped)
            found.append(seen if allowed else Payload(label, seen.preview, hidden=True))
    return found


def _first_inputs(conflict: Conflict, *, allowed: bool) -> dict[str, str]:
    """Start the event of an item without a key with what came: only the id is to be typed."""
    text = conflict.event_text
    short = conflict.kind == "missing_key" and text is not None and len(text) <= _EVENT_LIMIT
    return {"event": text} if short and allowed else {}


def _proposal(conflict: Conflict, *, allowed: bool) -> Proposal | None:
    if conflict.proposed_by is None or conflict.state != "open":
        return None
    stored = reading.side(conflict.proposed_text).value
    stored = stored if isinstance(stored, dict) else {}
    changes = stored.get("changes")
    lines = tuple(
        f"{shown(name, 60)}: {shown(inline(value, 160).text) if allowed else '••••'}"
        for name, value in (changes.items() if isinstance(changes, dict) else ())
    )
    return Proposal(
        by=shown(conflict.proposed_by, 80),
        at=conflict.proposed_at,
        decision=shown(stored.get("decision") or "a decision", 40),
        reason=shown(stored.get("reason") or "", 400),
        lines=lines,
    )


def _decided(conflict: Conflict, job: Job | None, now: datetime) -> Decided | None:
    if conflict.resolved_at is None:
        return None
    undo = None
    if conflict.kind == "unknown_send" and conflict.state == "resent" and job:
        undo = job.run_after if job.state == "queued" and job.run_after > now else None
    return Decided(
        state=conflict.state,
        decision=shown(conflict.decision or _STATES.get(conflict.state, conflict.state), 80),
        by=shown(conflict.resolved_by or "the ledger", 80),
        at=conflict.resolved_at,
        reason=shown(conflict.reason or "", 400),
        undo_until=undo,
        resulting=version(conflict.resulting_revision) if conflict.resulting_revision else "",
    )


def _closed(
    conflict: Conflict, decided: Decided | None, proposal: Proposal | None, user: User
) -> str:
    """Say why nothing at all may be decided, or nothing."""
    if proposal and user.get_username() == conflict.proposed_by:
        return "You proposed this. A second person has to confirm it."
    if decided and not decided.undo_until:
        return "This item is decided."
    if conflict.state == "detected":
        return "The workflow may still try again; it opens for a person if it does not."
    return ""


def _second_person(conflict: Conflict, part: Any) -> str:
    """Say that a second person will have to confirm, where the ledger will ask for one."""
    names = [
        each.row.name
        for each in (part.rows if part and part.written else ())
        if each.sensitive and each.row.name in part.written.changes
    ]
    if names or (conflict.external and conflict.sensitive):
        because = f"{listed([shown(name, 40) for name in names])} is" if names else "it is"
        return f"A second person confirms, because {because} sensitive."
    return ""


def _places(
    conflict: Conflict, around: Around, part: Any, now: datetime, proposal: Proposal | None
) -> Places:
    words = {
        "record": record_of(conflict),
        "workflow": shown(conflict.workflow, 60),
        "now": part.version_now if part else version(conflict.version_found),
        "provider": shown(around.job.provider, 60) if around.job else "the provider",
        "proposer": proposal.by if proposal else "",
        "accept": "The written record changes." if conflict.target else "A new job is queued.",
        "resend": "Queues the send again.",
    }
    forbidden: dict[str, str] = {}
    if part and part.written and not part.written.changes:
        forbidden["as_shown"] = "Nothing would be written. Choose a value, or keep current."
    if part and part.written and part.written.problems:
        forbidden["as_shown"] = "A typed value cannot be read; see the row above."
    second = _second_person(conflict, part)
    words["second"] = f" {second}" if second else ""
    if around.job:
        undo = Policy.objects.filter(pk="undo_s").values_list("value", flat=True).first()
        words["resend"] = sends.resend_words(
            around.job, around.provider, now, undo if isinstance(undo, int) else 30
        )
        blind = around.provider is None or (
            around.provider.class_field == "advisory_blind"
            or (
                around.provider.class_field == "forced_unique"
                and not around.provider.lookup_by_reference
            )
        )
        if blind:
            forbidden["look_again"] = f"{words['provider']} cannot be asked."
    return Places(words, forbidden)
