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
from review.items.deeds import DECIDING, did, wants, written
from review.items.page import Entry
from review.items.parts import Version
from review.items.reading import json_text, side, text_of
from review.items.stories import bold, bold_actor
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

# operation: (what it is called when it won, what was tried when it did not)
_OPERATIONS: dict[str, tuple[str, str]] = {
    "claim_job": ("claimed the job", "tried to claim the job"),
    "enqueue_job": ("queued the job", "tried to queue the job"),
    "claim_next_job": ("took the job from the queue", "tried to take the job"),
    "heartbeat_job": ("renewed its hold", "tried to renew its hold"),
    "mark_sending": ("marked the send", "tried to mark the send"),
    "record_receipt": ("stored the provider's receipt", "brought a receipt"),
    "complete_job": ("finished the job", "tried to finish the job"),
    "fail_job": ("reported a failure", "tried to report a failure"),
    "release_job": ("gave the job back", "tried to give the job back"),
    "write_fields": ("wrote the record", "tried to write the record"),
    "post_conflict": ("posted the conflict", "tried to post a conflict"),
    "take_expired_jobs": ("took the expired job over", "tried to take the job over"),
    "decide_job": ("decided by the evidence", "tried to decide"),
    "add_evidence": ("stored evidence", "tried to store evidence"),
    "look_again": ("looked again", "tried to look again"),
    "promote_conflicts": ("opened it for a person", "tried to open it"),
    **dict.fromkeys(DECIDING, ("decided", "tried to decide")),
    "approve_decision": ("approved the decision", "tried to approve"),
    "reject_decision": ("rejected the proposal", "tried to reject"),
    "withdraw_decision": ("took the decision back", "tried to take it back"),
    "post_failed_job": ("recorded the failure", "tried to record the failure"),
    "retry_failed_job": ("tried the dead letter again", "tried the dead letter again"),
    "start_batch": ("started the import", "tried to start the import"),
    "advance_batch": ("reported a chunk", "tried to report a chunk"),
    "finish_batch": ("ended the import", "tried to end the import"),
    "start_run": ("started the run", "tried to start the run"),
    "take_outbox": ("took the message to deliver it", "tried to take the message"),
    "publish_outbox": ("reported the delivery", "tried to report the delivery"),
    "complete_run": ("ended the run", "tried to end the run"),
    "fail_run": ("ended the run as failed", "tried to end the run"),
    "reconcile_run": ("looked at the run in the engine", "looked at the run in the engine"),
    "set_policy": ("set the policy", "tried to set the policy"),
    "save_provider": ("saved the provider", "tried to save the provider"),
    "sign_archive_expiry": ("signed the archive expiry", "tried to sign the archive expiry"),
    "mark_field_sensitive": ("marked the field", "tried to mark the field"),
    "apply_deploy": ("deployed the workflow", "tried to deploy the workflow"),
    "save_effect": ("saved the effect", "tried to save the effect"),
    "save_target": ("saved the target", "tried to save the target"),
    "take_sweep_lock": ("began", "tried to begin"),
    "release_sweep_lock": ("ended", "tried to end"),
    "archive_keys": ("moved the key to the archive", "tried to move the key"),
    "purge_archive": ("forgot the archived key", "tried to forget the key"),
    "purge_jobs": ("dropped the finished job", "tried to drop the job"),
    "record_check": ("recorded the check", "tried to record the check"),
    "seal_audit": ("sealed the audit", "tried to seal the audit"),
    "verify_audit": ("verified the audit", "tried to verify the audit"),
    "lookup_key": ("looked the key up", "tried to look the key up"),
}

# What record_access tells of, by its event.
_ACCESS: dict[str, str] = {
    "right_missing": "was refused for want of a right",
    "second_factor_missing": "was refused for want of a second factor",
    "login_failed": "failed to log in",
    "locked_out": "was locked out after failed log-ins",
    "code_wrong": "gave a wrong code",
    "second_factor_added": "added a second factor",
    "second_factor_removed": "removed their second factor",
    "second_factor_reset": "reset somebody's second factor",
    "recovery_codes_made": "made recovery codes",
    "recovery_code_used": "used a recovery code",
    "audit_exported": "took the audit away",
    "archived_result_seen": "looked at an archived result",
}

# outcome: how a lost or refused try ended
_ENDINGS: dict[str, str] = {
    "held_by_other": "somebody else holds it",
    "in_review": "it waits for a person",
    "dead_lettered": "it is a dead letter",
    "lost_claim": "the job is gone",
    "lost_record": "the row is gone",
    "stale_version": "the record had moved",
    "rule_failed": "a rule refused it",
    "not_owner_of_field": "the field belongs to another workflow",
    "bad_transition": "that move is not allowed",
    "payload_mismatch": "the content differs from the first time",
    "result_mismatch": "another result is stored",
    "already_applied": "it was applied before",
    "superseded": "a newer version stands",
    "already_marked": "the send was marked before",
    "already_done": "it was done already",
    "already_decided": "somebody had decided",
    "already_terminal": "it had ended",
    "lease_expired": "its hold had run out",
    "key_mismatch": "the key is another one",
    "missing_key": "it has no key",
    "key_is_run_identity": "the key was a run's id",
    "needs_second_person": "a second person must confirm",
    "wrong_role": "it may not",
    "invalid": "the call could not be read",
}


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
    told = written(each.verb, each.fields or ["nothing"], each.revision)
    if each.item is None:
        return Entry(each.at, "ok", format_html("{} {}", bold(each.who), told))
    item = reverse("admin:review_item", args=["conflict", each.item])
    text = '{} {}, deciding <a href="{}">item {}</a>'
    return Entry(each.at, "ok", format_html(text, _person(each.who, people), told, item, each.item))


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
    won, tried = _OPERATIONS.get(row.op, (shown(row.op, 60), f"tried {shown(row.op, 60)}"))
    who = (
        _person(row.actor, people)
        if row.actor_kind == "human"
        else bold_actor(MACHINES.get(row.actor_kind, row.actor))
    )
    if row.op == "record_access":
        event = text_of(row, "event") or ""
        return format_html("{} {}", who, _ACCESS.get(event) or shown(event.replace("_", " "), 60))
    if row.outcome == "replay":
        return format_html("{} {} again and got the stored answer", who, won)
    if row.outcome in _GOOD:
        return format_html("{} {}", who, deed(row, conflict) or won)
    if row.outcome == "needs_second_person":
        decision, fields = _decided(row)
        wish = written(wants(decision), fields, between=" ")
        return format_html("{} proposed to {}{}", who, wish, _changed(row))
    ending = _ENDINGS.get(row.outcome, shown(row.outcome, 60))
    return format_html("{} {}: {}, {} rows", who, tried, ending, row.row_count)


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
        wish = written(wants(decision), fields, made, between=" ")
        return f"approved the proposal to {wish}{_changed(row)}"
    return f"{written(did(decision), fields, made)}{_changed(row)}"


def _changed(row: AuditEvent) -> str:
    """Say that other content was sent than was stored, and under which key."""
    if not text_of(row, "edited"):
        return ""
    return f" with changed content, under {'a new' if text_of(row, 'key') == 'new' else 'its'} key"


def _decided(row: AuditEvent) -> tuple[str | None, list[str]]:
    """Return the decision an audit row tells of, and the fields it wrote."""
    changes = side(text_of(row, "changes")).value
    return text_of(row, "decision"), sorted(changes) if isinstance(changes, dict) else []


def _reason(row: AuditEvent) -> str:
    """Quote what a person said; say what the machine meant."""
    if not row.reason:
        return ""
    if row.actor_kind == "human":
        return f"“{shown(row.reason)}”"
    return shown(in_words(row.reason))


def _more(row: AuditEvent) -> str:
    parts = [
        _reason(row),
        shown(row.actor, 80) if row.actor_kind in MACHINES else "",
        f"execution {shown(row.execution_id, 40)}"
        if row.execution_id and row.actor_kind != "human"
        else "",
        f"attempt {row.attempt}" if row.attempt and row.attempt > 1 else "",
    ]
    return " · ".join(part for part in parts if part)
