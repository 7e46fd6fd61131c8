"""What a person decides: a lost write, an uncertain send, an item nobody may guess about."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

KINDS = {
    "stale_version",
    "rule_failed",
    "not_owner_of_field",
    "bad_transition",
    "payload_mismatch",
    "result_mismatch",
    "unknown_send",
    "missing_key",
    "lost_claim",
    "lost_record",
}
UNDECIDED = ["detected", "open"]
STATES = {
    *UNDECIDED,
    "auto_resolved",
    "folded",
    "applied",
    "kept",
    "merged",
    "confirmed",
    "resent",
    "abandoned",
}


class Conflict(GuardedModel):
    """One loss, durable before the loser hears of it, and the decision that ended it."""

    id = models.BigAutoField(primary_key=True)
    kind = models.TextField()
    state = models.TextField(db_default="open")
    target = models.TextField(null=True)
    record_key = models.TextField(null=True)
    job_id = models.TextField(null=True)
    idem_key = models.TextField(null=True)
    effect = models.TextField(null=True)
    effect_version = models.IntegerField(null=True)
    workflow = models.TextField()
    workflow_version = models.TextField(null=True)
    execution_id = models.TextField(null=True)
    instance = models.TextField(db_default="default")
    attempted = SafeJSONField()
    base_snapshot = SafeJSONField(null=True)
    current_snapshot = SafeJSONField(null=True)
    version_read = models.TextField(null=True)
    version_found = models.TextField(null=True)
    expected_hash = models.TextField()
    actual_hash = models.TextField()
    row_count = models.IntegerField(db_default=0)
    attempt = models.IntegerField(db_default=1)
    event = SafeJSONField(null=True)
    sensitive = models.BooleanField(db_default=False)
    external = models.BooleanField(db_default=False)
    dedupe_key = models.TextField()
    lock_version = models.BigIntegerField(db_default=1)
    proposed = SafeJSONField(null=True)
    proposed_by = models.TextField(null=True)
    proposed_at = models.DateTimeField(null=True)
    second_approver = models.TextField(null=True)
    decision = models.TextField(null=True)
    resolution = SafeJSONField(null=True)
    resulting_revision = models.TextField(null=True)
    resolved_by = models.TextField(null=True)
    resolved_at = models.DateTimeField(null=True)
    reason = models.TextField(null=True)
    detail = SafeJSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "conflicts"
        constraints = [
            known("kind", KINDS, "conflicts"),
            known("state", STATES, "conflicts"),
            models.UniqueConstraint(
                fields=["dedupe_key"],
                condition=Q(state__in=UNDECIDED) | Q(external=True),
                name="conflicts_one_per_loss",
            ),
            models.CheckConstraint(
                condition=Q(state__in=UNDECIDED, resolved_at=None)
                | (~Q(state__in=UNDECIDED) & Q(resolved_at__isnull=False)),
                name="conflicts_resolved_iff_decided",
            ),
            models.CheckConstraint(
                condition=~Q(kind="stale_version")
                | Q(target__isnull=False, record_key__isnull=False, version_read__isnull=False),
                name="conflicts_stale_names_record_and_version",
            ),
            models.CheckConstraint(
                condition=Q(second_approver=None) | ~Q(second_approver=models.F("proposed_by")),
                name="conflicts_second_person_differs",
            ),
            models.CheckConstraint(
                condition=Q(state="open", waiting_since__isnull=False)
                | (~Q(state="open") & Q(waiting_since=None)),
                name="conflicts_wait_iff_open",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"], condition=Q(state="detected"), name="conflicts_detected"
            ),
            models.Index(fields=["target", "record_key", "created_at"], name="conflicts_by_record"),
            models.Index(fields=["idem_key", "created_at"], name="conflicts_by_key"),
            models.Index(
                fields=["job_id"], condition=Q(job_id__isnull=False), name="conflicts_by_job"
            ),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="conflicts_waiting",
            ),
            models.Index(
                fields=["workflow", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="conflicts_waiting_by_workflow",
            ),
            models.Index(
                fields=["kind", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="conflicts_waiting_by_kind",
            ),
            # What the queue is searched by; only what waits is in these.
            models.Index(
                fields=["record_key"],
                condition=Q(waiting_since__isnull=False, record_key__isnull=False),
                name="conflicts_waiting_by_record",
            ),
            models.Index(
                fields=["execution_id"],
                condition=Q(waiting_since__isnull=False, execution_id__isnull=False),
                name="conflicts_waiting_by_execution",
            ),
            GinIndex(
                OpClass("attempted", "jsonb_path_ops"),
                condition=Q(waiting_since__isnull=False),
                name="conflicts_waiting_attempted",
            ),
            GinIndex(
                OpClass("event", "jsonb_path_ops"),
                condition=Q(waiting_since__isnull=False),
                name="conflicts_waiting_event",
            ),
        ]

    def __str__(self) -> str:
        return f"conflict {self.id}"
