"""How a timeline calls what the ledger's audit tells of: its operations and outcomes, in words."""

from collections.abc import Mapping

from review.items.deeds import DECIDING
from review.language import later

# operation: (what is said when it won, what was tried when it did not)
OPERATIONS: Mapping[str, tuple[str, str]] = {
    "claim_job": (later("{who} claimed the job"), later("{who} tried to claim the job")),
    "enqueue_job": (later("{who} queued the job"), later("{who} tried to queue the job")),
    "claim_next_job": (
        later("{who} took the job from the queue"),
        later("{who} tried to take the job"),
    ),
    "heartbeat_job": (later("{who} renewed its hold"), later("{who} tried to renew its hold")),
    "mark_sending": (later("{who} marked the send"), later("{who} tried to mark the send")),
    "record_receipt": (
        later("{who} stored the provider's receipt"),
        later("{who} brought a receipt"),
    ),
    "complete_job": (later("{who} finished the job"), later("{who} tried to finish the job")),
    "fail_job": (later("{who} reported a failure"), later("{who} tried to report a failure")),
    "release_job": (later("{who} gave the job back"), later("{who} tried to give the job back")),
    "write_fields": (later("{who} wrote the record"), later("{who} tried to write the record")),
    "post_conflict": (later("{who} posted the conflict"), later("{who} tried to post a conflict")),
    "take_expired_jobs": (
        later("{who} took the expired job over"),
        later("{who} tried to take the job over"),
    ),
    "decide_job": (later("{who} decided by the evidence"), later("{who} tried to decide")),
    "add_evidence": (later("{who} stored evidence"), later("{who} tried to store evidence")),
    "look_again": (later("{who} looked again"), later("{who} tried to look again")),
    "promote_conflicts": (later("{who} opened it for a person"), later("{who} tried to open it")),
    **dict.fromkeys(DECIDING, (later("{who} decided"), later("{who} tried to decide"))),
    "approve_decision": (later("{who} approved the decision"), later("{who} tried to approve")),
    "reject_decision": (later("{who} rejected the proposal"), later("{who} tried to reject")),
    "withdraw_decision": (
        later("{who} took the decision back"),
        later("{who} tried to take it back"),
    ),
    "post_failed_job": (
        later("{who} recorded the failure"),
        later("{who} tried to record the failure"),
    ),
    "retry_failed_job": (
        later("{who} tried the dead letter again"),
        later("{who} tried the dead letter again"),
    ),
    "start_batch": (later("{who} started the import"), later("{who} tried to start the import")),
    "advance_batch": (later("{who} reported a chunk"), later("{who} tried to report a chunk")),
    "finish_batch": (later("{who} ended the import"), later("{who} tried to end the import")),
    "start_run": (later("{who} started the run"), later("{who} tried to start the run")),
    "take_outbox": (
        later("{who} took the message to deliver it"),
        later("{who} tried to take the message"),
    ),
    "publish_outbox": (
        later("{who} reported the delivery"),
        later("{who} tried to report the delivery"),
    ),
    "complete_run": (later("{who} ended the run"), later("{who} tried to end the run")),
    "fail_run": (later("{who} ended the run as failed"), later("{who} tried to end the run")),
    "reconcile_run": (
        later("{who} looked at the run in the engine"),
        later("{who} looked at the run in the engine"),
    ),
    "set_policy": (later("{who} set the policy"), later("{who} tried to set the policy")),
    "save_provider": (later("{who} saved the provider"), later("{who} tried to save the provider")),
    "sign_archive_expiry": (
        later("{who} signed the archive expiry"),
        later("{who} tried to sign the archive expiry"),
    ),
    "mark_field_sensitive": (
        later("{who} marked the field"),
        later("{who} tried to mark the field"),
    ),
    "apply_deploy": (
        later("{who} deployed the workflow"),
        later("{who} tried to deploy the workflow"),
    ),
    "save_effect": (later("{who} saved the effect"), later("{who} tried to save the effect")),
    "save_target": (later("{who} saved the target"), later("{who} tried to save the target")),
    "take_sweep_lock": (later("{who} began"), later("{who} tried to begin")),
    "release_sweep_lock": (later("{who} ended"), later("{who} tried to end")),
    "archive_keys": (
        later("{who} moved the key to the archive"),
        later("{who} tried to move the key"),
    ),
    "purge_archive": (
        later("{who} forgot the archived key"),
        later("{who} tried to forget the key"),
    ),
    "purge_jobs": (later("{who} dropped the finished job"), later("{who} tried to drop the job")),
    "record_check": (later("{who} recorded the check"), later("{who} tried to record the check")),
    "seal_audit": (later("{who} sealed the audit"), later("{who} tried to seal the audit")),
    "verify_audit": (later("{who} verified the audit"), later("{who} tried to verify the audit")),
    "lookup_key": (later("{who} looked the key up"), later("{who} tried to look the key up")),
}
# One that no table knows.
UNKNOWN: tuple[str, str] = ("{who} {operation}", later("{who} tried {operation}"))

# What record_access tells of, by its event.
ACCESS: Mapping[str, str] = {
    "right_missing": later("{who} was refused for want of a right"),
    "second_factor_missing": later("{who} was refused for want of a second factor"),
    "login_failed": later("{who} failed to log in"),
    "locked_out": later("{who} was locked out after failed log-ins"),
    "code_wrong": later("{who} gave a wrong code"),
    "second_factor_added": later("{who} added a second factor"),
    "second_factor_removed": later("{who} removed their second factor"),
    "second_factor_reset": later("{who} reset somebody's second factor"),
    "recovery_codes_made": later("{who} made recovery codes"),
    "recovery_code_used": later("{who} used a recovery code"),
    "audit_exported": later("{who} took the audit away"),
    "archived_result_seen": later("{who} looked at an archived result"),
}

# outcome: how a lost or refused try ended
ENDINGS: Mapping[str, str] = {
    "held_by_other": later("somebody else holds it"),
    "in_review": later("it waits for a person"),
    "dead_lettered": later("it is a dead letter"),
    "lost_claim": later("the job is gone"),
    "lost_record": later("the row is gone"),
    "stale_version": later("the record had moved"),
    "rule_failed": later("a rule refused it"),
    "not_owner_of_field": later("the field belongs to another workflow"),
    "bad_transition": later("that move is not allowed"),
    "payload_mismatch": later("the content differs from the first time"),
    "result_mismatch": later("another result is stored"),
    "already_applied": later("it was applied before"),
    "superseded": later("a newer version stands"),
    "already_marked": later("the send was marked before"),
    "already_done": later("it was done already"),
    "already_decided": later("somebody had decided"),
    "already_terminal": later("it had ended"),
    "lease_expired": later("its hold had run out"),
    "key_mismatch": later("the key is another one"),
    "missing_key": later("it has no key"),
    "key_is_run_identity": later("the key was a run's id"),
    "needs_second_person": later("a second person must confirm"),
    "wrong_role": later("it may not"),
    "invalid": later("the call could not be read"),
}
