"""Assembles the page of one conflict from the parts its kind needs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.html import format_html

from ledger.models import Conflict
from review.decisions import RISK
from review.items import fields, nexts, reading, sends, timeline
from review.items.around import (
    Around,
    attempted_names,
    detail_of,
    holder,
    kind_of_loss,
    read_around,
    unreadable,
    unreadable_because,
)
from review.items.ends import closed, decided_of, left_alone, proposal_of
from review.items.facts import chips_of, detail_facts, facts_of, four_of
from review.items.fields import Ground, to_choose
from review.items.hidden import hidden
from review.items.offers import User, needs_of, offer
from review.items.page import Fact, ItemPage, Next, Offer
from review.items.parts import FieldPart, Payload, SendPart, Version
from review.items.places import places
from review.items.stories import Story
from review.jsonvalue import Number, pretty
from review.language import _, later
from review.people import people_for
from review.rights import RESOLVE, VIEW_PAYLOAD
from review.text import actor, shown
from review.verbs import SECOND_OWN, SECOND_PERSON, WITHDRAW

FIELD_KINDS = frozenset({"stale_version", "rule_failed", "not_owner_of_field", "bad_transition"})
_MISMATCH_COLUMNS = {
    "payload_mismatch": (later("Stored"), later("Came later")),
    "result_mismatch": (later("Stored result"), later("Second result")),
}
# An event longer than this is typed anew, not edited in a form field.
_EVENT_LIMIT = 4_000
_DIGEST = re.compile("[0-9a-f]{64}")


def find(conflict_id: int) -> Conflict | None:
    """Return a conflict with its JSON as bounded text, or None."""
    return reading.conflict_query().filter(pk=conflict_id).first()


def page(conflict: Conflict, user: User, form: Mapping[str, str] | None = None) -> ItemPage:
    """Build the page of a conflict for this person; form holds choices made so far."""
    now = timezone.now()
    around = read_around(conflict)
    kind = kind_of_loss(conflict)
    allowed = user.has_perm(VIEW_PAYLOAD)
    names = attempted_names(conflict)
    owned = reading.owners(conflict.target, names) if conflict.target and names else {}
    story = Story(
        conflict, names, _meanwhile(conflict, around), _story_facts(conflict, around, owned)
    )
    proposal = proposal_of(conflict, allowed=allowed)
    decided = decided_of(conflict, around.job, now)
    ground = Ground(
        now=around.now,
        newest=around.newest,
        revision_column=around.revision_column,
        versions=around.versions,
        owned=owned,
        refused=_refused(conflict, around, story.facts["foreign"]),
        form=form if allowed else None,  # a compare with what was typed would tell what it is
        choosing=conflict.state == "open" and proposal is None,
        allowed=allowed,
        closed=not (allowed and user.has_perm(RESOLVE)),
    )
    part = _field_part(conflict, ground)
    built = ItemPage(
        source="conflict",
        item_id=str(conflict.id),
        kind=kind,
        title=story.title,
        story=story.text,
        chips=chips_of(conflict, kind, around.provider, around.alike),
        facts=_facts(conflict, around, now),
        timeline=timeline.of_conflict(conflict, people_for(user), around.versions),
        four=four_of(conflict),
        inputs=form if form is not None else _first_inputs(conflict, allowed=allowed),
        lock_version=conflict.lock_version,
        revision_seen=_revision_seen(conflict, around),
        opened_at=conflict.waiting_since or conflict.created_at,
        next=_next(conflict, around, part),
        fields=part,
        send=_send_part(conflict, around, now),
        payloads=_payloads(conflict, around, allowed=allowed),
        proposal=proposal,
        decided=decided,
    )
    return _with_offers(built, conflict, around, user, now)


def _meanwhile(conflict: Conflict, around: Around) -> list[Version]:
    """Return what others wrote until this was decided; the decision itself is another story."""
    until = conflict.resolved_at
    return [
        each
        for each in around.versions
        if each.item != conflict.id and (until is None or each.at <= until)
    ]


def _next(conflict: Conflict, around: Around, part: FieldPart | None) -> Next | None:
    """Say what to do while the item waits, and where to look where only a person can."""
    if conflict.state != "open":
        return None
    job, provider = around.job, around.provider
    name = job.provider if job else None
    words = nexts.of_conflict(conflict, name, provider, has_job=job is not None)
    if conflict.kind == "stale_version" and part and part.written:
        return Next(words, format_html("{}", to_choose(part)))
    if job is None or conflict.kind != "unknown_send" or conflict.proposed_by:
        return Next(words)
    return Next(words, nexts.how_to_check(job, provider))


def _with_offers(
    built: ItemPage, conflict: Conflict, around: Around, user: User, now: datetime
) -> ItemPage:
    """Add what this person may decide, and what the form has to ask for."""
    decided, proposal = built.decided, built.proposal
    own = proposal is not None and conflict.proposed_by == user.get_username()
    if left_alone(conflict):
        ways = tuple(each for each in built.kind.decisions if each.decision == "abandon")
        decided = None
    elif decided and not decided.undo_until:
        return built
    else:
        second = SECOND_OWN if own else SECOND_PERSON
        ways = second if proposal else (WITHDRAW,) if decided else built.kind.decisions
    blind = not user.has_perm(VIEW_PAYLOAD)
    offers = offer(
        ways,
        ("conflict", str(conflict.id)),
        user,
        places(conflict, around, built.fields, proposal, now, blind=blind, own=own),
        closed(conflict, decided),
    )
    needs, risk = _needs(offers, around, now)
    return replace(built, offers=offers, needs=needs, risk=risk or built.risk)


def _facts(conflict: Conflict, around: Around, now: datetime) -> list[Fact]:
    facts = facts_of(conflict, around.job, around.provider, around.workflow, now)
    lost = unreadable(conflict)
    if lost is not None:
        facts.append(Fact(_("Body"), _("could not be read"), _size(lost)))
        facts.append(Fact(_("Body's SHA-256"), shown(lost.get("body_sha256"), 64), mono=True))
    return [*facts, *detail_facts(detail_of(conflict))]


def _size(lost: Mapping[str, Any]) -> str:
    size = lost.get("size")
    if isinstance(size, Number):
        return _("kept byte for byte, {number} bytes").format(number=size.text)
    return _("kept byte for byte")


def _send_part(conflict: Conflict, around: Around, now: datetime) -> SendPart | None:
    if conflict.kind != "unknown_send" or around.job is None:
        return None
    return sends.send_part(around.job, around.provider, around.workflow, holder(conflict), now)


def _revision_seen(conflict: Conflict, around: Around) -> str:
    """Return the version the page shows as now; a store outside has none the ledger can guard."""
    if around.now:
        return str(around.now.revision)
    return "" if conflict.external else conflict.version_found or ""


def _needs(offers: list[Offer], around: Around, now: datetime) -> tuple[frozenset[str], str]:
    """Return what the form has to ask for, and what its tick accepts where that is not the usual.

    A repeat the provider refuses needs no tick, unless it brings older data after newer.
    """
    needs, job = needs_of(offers), around.job
    if job is None:
        return needs, ""
    refused = sends.may_redrive(job, around.provider, now)
    if not sends.overtaken_by(job):
        return needs - {RISK} if refused else needs, ""
    if refused:
        return needs, _("that older data is sent after newer")
    return needs, _("a possible second send, and that older data is sent after newer")


def _story_facts(conflict: Conflict, around: Around, owned: reading.Owners) -> dict[str, Any]:
    detail = detail_of(conflict)
    foreign = [
        name
        for name in attempted_names(conflict)
        if conflict.workflow not in owned.get(name, ([], False))[0]
    ]
    step = (detail.get("from"), detail.get("to"))
    return {
        **{
            key: detail[key]
            for key in ("rule", "constraint", "path")
            if isinstance(detail.get(key), str)
        },
        "unreadable": unreadable_because(conflict),
        "effect_title": around.effect.title if around.effect else None,
        "foreign": foreign,
        "owners": sorted({name for field in foreign for name in owned.get(field, ([], False))[0]}),
        "move": step if all(isinstance(each, str) for each in step) else None,
        **sends.facts_of(around.job, around.provider, timezone.now()),
    }


def _refused(conflict: Conflict, around: Around, foreign: list[str]) -> dict[str, str]:
    """Return per field why its attempted value would be refused again, where that is known."""
    if conflict.kind == "not_owner_of_field":
        words = _("{workflow} may not write this field")
        return dict.fromkeys(foreign, words.format(workflow=actor(conflict.workflow, 60)))
    if conflict.kind == "bad_transition" and around.status_column:
        return {around.status_column: _("this move is not allowed")}
    return {}


def _field_part(conflict: Conflict, ground: Ground) -> FieldPart | None:
    if unreadable(conflict) is not None:  # what came holds no fields
        return None
    if conflict.kind in FIELD_KINDS:
        return fields.field_part(conflict, ground)
    if conflict.kind in _MISMATCH_COLUMNS:
        return fields.two_sided(conflict, _MISMATCH_COLUMNS[conflict.kind], allowed=ground.allowed)
    return None


def _payloads(conflict: Conflict, around: Around, *, allowed: bool) -> list[Payload]:
    found = []
    if around.job:
        found.append(reading.payload_of_job(around.job, allowed=allowed))
    if allowed and (kept := _unreadable(conflict)):
        found.append(kept)
    inputs = detail_of(conflict).get("inputs")
    if allowed and inputs is not None:
        found.append(Payload(_("What the rule read"), pretty(inputs)))
    columns = [(_("Event"), "event")]
    if conflict.kind in ("missing_key", "lost_claim", "lost_record"):
        columns.insert(0, (_("What came"), "attempted"))
    for label, column in columns:
        text = reading.text_of(conflict, column)
        if text is None or (column == "attempted" and unreadable(conflict) is not None):
            continue
        wrapped = column == "attempted" and conflict.target is None
        seen = (
            reading.preview(label, text, wrapped=wrapped)
            if allowed
            else hidden(label, conflict, column)
        )
        found += [seen] if seen else []
    if conflict.kind == "missing_key" and found:
        found[0] = replace(found[0], open=True)
    return found


def _unreadable(conflict: Conflict) -> Payload | None:
    """Preview the bytes of what came where it was no JSON and was kept as it was."""
    digest = (unreadable(conflict) or {}).get("body_sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return None
    return reading.payload_of_body(_("What came"), bytes.fromhex(digest))


def _first_inputs(conflict: Conflict, *, allowed: bool) -> dict[str, str]:
    """Start the event of an item without a key with what came: only the id is to be typed."""
    text = reading.text_of(conflict, "event")
    if conflict.kind != "missing_key" or text is None or len(text) > _EVENT_LIMIT or not allowed:
        return {}
    return {"event": text}
