"""Every operation, once: its name, where it is reached, and who may call it.

Grants, the HTTP door, the drift tests and the documentation are read from this table. The bodies
are ``ledger/sql/functions/<name>.sql``; the Python door is ``ledger/operations/``.
"""

from dataclasses import dataclass

GOOD = frozenset({"won", "inserted", "matched", "replay", "empty"})
LOST = frozenset(
    {
        "held_by_other",
        "in_review",
        "dead_lettered",
        "lost_claim",
        "lost_record",
        "stale_version",
        "rule_failed",
        "not_owner_of_field",
        "bad_transition",
        "payload_mismatch",
        "result_mismatch",
        "already_applied",
        "superseded",
        "already_marked",
        "already_done",
        "already_decided",
        "already_terminal",
        "lease_expired",
        "key_mismatch",
    }
)
REFUSED = frozenset(
    {
        "missing_key",
        "key_is_run_identity",
        "unknown_effect",
        "unknown_target",
        "wrong_role",
        "invalid",
        "needs_second_person",
    }
)
OUTCOMES = GOOD | LOST | REFUSED

# The right a person needs for a decision that is not a plain "resolve", as at the console.
DECISION_RIGHTS = {
    "resend": "review.resend",
    "run_now": "review.resend",
    "retry": "review.resend",
    "abandon": "review.abandon",
    "drop": "review.abandon",
    "acknowledge": "review.resolve",
    "approve": "review.approve",
    "reject": "review.approve",
}
SENDING_DECISIONS = frozenset({"resend", "run_now", "retry", "approve"})
"""Decisions after which something may reach the outside; approving carries one out."""
EDITS_RIGHT = "review.edit_payload"
"""The right a person needs besides, where a decision carries other content than is stored."""


@dataclass(frozen=True)
class Operation:
    """One guarded operation and its doors.

    ``scope`` is what a workflow token needs; None means no workflow token may call it.
    ``right`` is the right a person needs, None where no person may call it over HTTP.
    ``accept`` lists the outcomes HTTP answers with 2xx unless the caller names others.
    """

    name: str
    http: tuple[str, str] | None = None
    scope: str | None = None
    right: str | None = None
    accept: frozenset[str] = GOOD

    @property
    def n8n(self) -> bool:
        """Whether the role ``ledger_n8n`` may execute it."""
        return self.scope is not None

    def right_for(self, decision: object) -> str | None:
        """Return the right a person needs for this decision."""
        if self.name.startswith("decide_") and isinstance(decision, str):
            return DECISION_RIGHTS.get(decision, self.right)
        return self.right

    def may_send(self, decision: object) -> bool:
        """Say whether something may reach the outside after it."""
        decides = self.name.startswith("decide_") and isinstance(decision, str)
        return self.name == "approve_decision" or (decides and decision in SENDING_DECISIONS)


def _n8n(name: str, method: str, path: str, scope: str, accept: set[str]) -> Operation:
    return Operation(name, (method, path), scope, accept=frozenset(accept))


def _human(name: str, path: str, right: str) -> Operation:
    accept = frozenset({"won", "needs_second_person"})
    return Operation(name, ("POST", path), right=right, accept=accept)


_ALL = (
    # Jobs and keys
    _n8n("claim_job", "POST", "/jobs/claim", "jobs", {"won"}),
    _n8n("enqueue_job", "POST", "/jobs", "jobs", {"inserted", "matched", "replay"}),
    _n8n("claim_next_job", "POST", "/jobs/claim-next", "work", {"won", "empty"}),
    _n8n("heartbeat_job", "POST", "/jobs/{job_id}/heartbeat", "jobs", {"won"}),
    _n8n("mark_sending", "POST", "/jobs/{job_id}/mark-sending", "jobs", {"won"}),
    _n8n("record_receipt", "POST", "/jobs/{job_id}/receipt", "jobs", {"won", "replay"}),
    _n8n("complete_job", "POST", "/jobs/{job_id}/complete", "jobs", {"won", "replay"}),
    _n8n("fail_job", "POST", "/jobs/{job_id}/fail", "jobs", {"won", "replay"}),
    _n8n("release_job", "POST", "/jobs/{job_id}/release", "jobs", {"won", "replay"}),
    _n8n("lookup_key", "POST", "/keys/lookup", "jobs", {"won", "empty"}),
    _n8n("explain_job", "GET", "/jobs/{job_id}", "jobs", {"won"}),
    _n8n("claim_jobs", "POST", "/jobs/claim-many", "jobs", {"won"}),
    _n8n("enqueue_jobs", "POST", "/jobs/many", "jobs", {"inserted", "matched", "replay"}),
    _n8n("complete_jobs", "POST", "/jobs/complete-many", "jobs", {"won", "replay"}),
    _n8n("claim_next_jobs", "POST", "/jobs/claim-next-many", "work", {"won", "empty"}),
    # Versioned writes and conflicts
    _n8n("read_record", "GET", "/records/{target}/{record_key}", "records", {"won"}),
    _n8n("write_fields", "PATCH", "/records/{target}/{record_key}", "records", {"won", "replay"}),
    _n8n("post_conflict", "POST", "/conflicts", "conflicts", {"inserted", "replay"}),
    _n8n("read_conflict", "GET", "/conflicts/{conflict_id}", "conflicts", {"won"}),
    # Dead letters and batches
    _n8n("post_failed_job", "POST", "/failed-jobs", "jobs", {"inserted", "replay"}),
    _n8n("post_failed_jobs", "POST", "/failed-jobs/many", "jobs", {"inserted", "replay"}),
    _n8n("start_batch", "POST", "/batches", "batches", {"won", "matched"}),
    _n8n("advance_batch", "POST", "/batches/{batch_id}/advance", "batches", {"won", "replay"}),
    _n8n("finish_batch", "POST", "/batches/{batch_id}/finish", "batches", {"won", "replay"}),
    _n8n("daily_report", "GET", "/reports/daily", "jobs", {"won", "empty"}),
    _n8n("confirm_landed", "POST", "/conflicts/{conflict_id}/confirm", "decide", {"won"}),
    # Runs of the engine
    _n8n("start_run", "POST", "/runs", "runs", {"won", "replay"}),
    _n8n("complete_run", "POST", "/runs/{run_id}/complete", "runs", {"won", "replay"}),
    _n8n("fail_run", "POST", "/runs/{run_id}/fail", "runs", {"won", "replay"}),
    # Decisions by people
    _human("decide_conflict", "/conflicts/{conflict_id}/decide", "review.resolve"),
    _human("approve_decision", "/conflicts/{conflict_id}/approve", "review.approve"),
    _human("reject_decision", "/conflicts/{conflict_id}/reject", "review.approve"),
    _human("withdraw_decision", "/conflicts/{conflict_id}/withdraw", "review.resend"),
    _human("decide_failed_job", "/failed-jobs/{failed_job_id}/decide", "review.resend"),
    _human("decide_queued_job", "/jobs/{job_id}/decide", "review.resolve"),
    _human("decide_run", "/runs/{run_id}/decide", "review.resolve"),
    _human("decide_batch", "/batches/{batch_id}/decide", "review.resolve"),
    _human("decide_outbox", "/outbox/{outbox_id}/decide", "review.resolve"),
    # Recovery, by the sweeper and the schedules
    Operation("archive_keys"),
    Operation("purge_archive"),
    Operation("purge_jobs"),
    Operation("retry_failed_job"),
    Operation("take_outbox"),
    Operation("publish_outbox"),
    Operation("take_sweep_lock"),
    Operation("release_sweep_lock"),
    Operation("take_expired_jobs"),
    Operation("decide_job"),
    Operation("add_evidence"),
    Operation("look_again"),
    Operation("reconcile_run"),
    Operation("promote_conflicts"),
    Operation("record_check"),
    Operation("seal_audit"),
    Operation("verify_audit"),
    # Administration
    Operation("set_policy"),
    Operation("save_provider"),
    Operation("save_effect"),
    Operation("add_key_spec"),
    Operation("save_target"),
    Operation("save_rule"),
    Operation("apply_deploy"),
    Operation("sign_archive_expiry"),
    Operation("mark_field_sensitive"),
    Operation("create_token"),
    Operation("revoke_token"),
    Operation("acknowledge_alert"),
    Operation("record_access"),
    Operation("save_baseline"),
    Operation("save_batch_curve"),
)

OPERATIONS = {operation.name: operation for operation in _ALL}

# Functions that are no operations but that a role may call: name -> argument types.
READERS = {"idem_key": "text, jsonb", "policy": "text", "client_target": "text, text"}
