"""Resend with changed content: the version is kept first, then the ledger is asked once."""

from collections.abc import Mapping
from typing import Any

from ledger.operations.decisions import decide_conflict
from ledger.operations.failed_jobs import decide_failed_job
from review.actions.base import Attempt, answered, lock_version, texts
from review.decisions import REASON, RISK
from review.edits import versions
from review.edits.page import SHOWN, Change, EditPage, change_of
from review.edits.ways import NEW
from review.errors import IncompleteError
from review.jsonvalue import wire
from review.language import _

# What a won resend with changed content is called, by the key it went under.
DECISIONS: Mapping[str, str] = {"same": "resend_changed", NEW: "resend_as_new"}


def run(built: EditPage, actor: str, form: Mapping[str, str]) -> Attempt:
    """Ask for a resend of what was typed; only what its page has shown is sent."""
    change, reason = _ready(built, form)
    subject = built.subject
    version = lock_version(form)
    versions.keep(
        versions.Made(
            (subject.source, str(subject.row.pk)),
            actor,
            reason,
            change.typed.text,
            change.event_text if change.way == NEW else "",
        ),
        built.stored.bytes_text,
    )
    asked: dict[str, Any] = {
        "actor": actor,
        "lock_version": version,
        "decision": "resend",
        "reason": reason,
        "payload": wire(change.typed.value),
        "payload_text": change.typed.text,
        "event": wire(change.event) if change.way == NEW else None,
    }
    if subject.source == "conflict":
        risk = form.get(RISK) == "yes"
        told: Any = decide_conflict(conflict_id=subject.row.pk, risk_acknowledged=risk, **asked)
    else:
        told = decide_failed_job(failed_job_id=subject.row.pk, **asked)
    decision = DECISIONS[change.way]
    attempt = answered(decision, told)
    made = {"job_id": told.job_id} if change.way == NEW and told.outcome == "won" else {}
    return Attempt(decision, attempt.outcome, {**attempt.detail, **made})


def _ready(built: EditPage, form: Mapping[str, str]) -> tuple[Change, str]:
    """Return a change that may be sent, with its reason: it was shown, and everything is said."""
    change = change_of(built)
    reason = texts(form, REASON)[REASON]
    if built.risky and form.get(RISK) != "yes":
        raise IncompleteError({RISK: _("Tick this if a second send is acceptable.")})
    if form.get(SHOWN) != change.seal:
        raise IncompleteError(
            {SHOWN: _("What differs is shown above now. Press again to send exactly that.")}
        )
    return change, str(reason)
