"""What happened, oldest first: an item's audit rows and its record's versions, in words."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import AuditEvent, Conflict
from review.items.deeds import DECIDING, did, wished, written
from review.items.page import Entry
from review.items.parts import Version
from review.items.reading import json_text, side, text_of
from review.items.stories import bold, bold_actor
from review.items.timeline_words import ACCESS, ENDINGS, OPERATIONS, UNKNOWN
from review.language import _, plural
from review.people import People
from review.reasons import in_words
from review.text import MACHINES, shown

# Rows of one timeline; more are one click away in the audit list.
LIMIT = 60

_GOOD = frozenset({"won", "inserted", "matched", "replay", "empty"})
_REFUSED = frozenset(
    {
        "bad_transition",
        "invalid",
        "key_is_run_identity",
        "missing_key",
        "not_owner_of_field",
        "rule_failed",
        "unknown_effect",
        "unknown_target",
        "wrong_role",
    }
)


def of_conflict(
    conflict: Conflict, people: People, versions: Iterable[Version] = ()
) -> list[Entry]:
    """List what happened to a conflict, its job, its key and its record.

    A version this very item's decision wrote is told once, by the decision.
    """
    wanted = [Q(conflict_id=conflict.id)]
    if conflict.idem_key:
        wanted.append(Q(key=conflict.idem_key))
    if conflict.job_id:
        wanted.append(Q(job_id=conflict.job_id))
    entries = [entry(row, people, conflict) for row in _rows(reduce(or_, wanted))]
    entries.extend(_of_version(each, people) for each in versions if each.item != conflict.id)
    return sorted(entries, key=lambda entry: entry.at)


def with_texts(rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """Read beside audit rows what their sentence needs of their content, bounded."""
    return rows.defer("before", "after", "row_hash").annotate(
        decision_text=KT("after__decision"),
        edited_text=KT("after__edited"),
        key_text=KT("after__key"),
        event_text=KT("after__event"),
        changes_text=json_text("after__changes", 4_000),
    )


def _rows(condition: Q, limit: int = LIMIT) -> list[AuditEvent]:
    rows = with_texts(AuditEvent.objects.filter(condition))
    return list(rows.order_by("-at", "-id")[:limit])


def _of_version(each: Version, people: People) -> Entry:
    told = written(each.verb, each.fields or [_("nothing")], each.revision)
    if each.item is None:
        return Entry(each.at, "ok", format_html(_("{who} {did}"), who=bold(each.who), did=told))
    text = format_html(
        _('{who} {did}, deciding <a href="{address}">item {number}</a>'),
        who=_person(each.who, people),
        did=told,
        address=reverse("admin:review_item", args=["conflict", each.item]),
        number=each.item,
    )
    return Entry(each.at, "ok", text)


def _person(name: object, people: People) -> SafeString:
    return format_html("<b><bdi>{}</bdi></b>", people.name(name, "human"))


def entry(row: AuditEvent, people: People, conflict: Conflict | None = None) -> Entry:
    """Put one audit row in words."""
    return Entry(row.at, _tone(row.outcome), _sentence(row, people, conflict), _more(row))


def _tone(outcome: str) -> str:
    if outcome in _GOOD:
        return "ok"
    return "bad" if outcome in _REFUSED else "warn"


def _sentence(row: AuditEvent, people: People, conflict: Conflict | None) -> SafeString:
    who = (
        _person(row.actor, people)
        if row.actor_kind == "human"
        else bold_actor(MACHINES.get(row.actor_kind, row.actor))
    )
    if row.op == "record_access":
        event = text_of(row, "event") or ""
        words = ACCESS.get(event, UNKNOWN[0])
        return format_html(words, who=who, operation=shown(event.replace("_", " "), 60))
    won, tried = (
        format_html(words, who=who, operation=shown(row.op, 60))
        for words in OPERATIONS.get(row.op, UNKNOWN)
    )
    if row.outcome == "replay":
        return format_html(_("{told} again and got the stored answer"), told=won)
    if row.outcome in _GOOD:
        done = deed(row, conflict)
        return format_html(_("{who} {did}"), who=who, did=done) if done else won
    if row.outcome == "needs_second_person":
        wish = _with_change(row, wished(*_decided(row)))
        return format_html(_("{who} proposed to {wish}"), who=who, wish=wish)
    return format_html(
        _("{told}: {ending}, {rows}"),
        told=tried,
        ending=ENDINGS.get(row.outcome, shown(row.outcome, 60)),
        rows=plural("{number} row", "{number} rows", row.row_count),
    )


def deed(row: AuditEvent, conflict: Conflict | None = None) -> str:
    """Say what a person's decision came to: what was done to what, and the version it made."""
    if row.op not in DECIDING:
        return ""
    decision, fields = _decided(row)
    if decision is None:
        return ""
    ours = conflict is not None and row.conflict_id == conflict.id
    made = conflict.resulting_revision if ours and conflict else None
    if row.op == "approve_decision":
        approved = _("approved the proposal to {wish}")
        return _with_change(row, approved.format(wish=wished(decision, fields, made)))
    return _with_change(row, written(did(decision), fields, made))


def _with_change(row: AuditEvent, told: str) -> str:
    """Add that other content was sent than was stored, and under which key."""
    if not text_of(row, "edited"):
        return told
    if text_of(row, "key") == "new":
        words = _("{told} with changed content, under a new key")
    else:
        words = _("{told} with changed content, under its key")
    return words.format(told=told)


def _decided(row: AuditEvent) -> tuple[str | None, list[str]]:
    """Return the decision an audit row tells of, and the fields it wrote."""
    changes = side(text_of(row, "changes")).value
    return text_of(row, "decision"), sorted(changes) if isinstance(changes, dict) else []


def _reason(row: AuditEvent) -> str:
    """Quote what a person said; say what the machine meant."""
    if not row.reason:
        return ""
    if row.actor_kind == "human":
        return _("“{reason}”").format(reason=shown(row.reason))
    return shown(in_words(row.reason))


def _more(row: AuditEvent) -> str:
    parts = [_reason(row), shown(row.actor, 80) if row.actor_kind in MACHINES else ""]
    if row.execution_id and row.actor_kind != "human":
        parts.append(_("execution {execution}").format(execution=shown(row.execution_id, 40)))
    if row.attempt and row.attempt > 1:
        parts.append(_("attempt {number}").format(number=row.attempt))
    return " · ".join(part for part in parts if part)
