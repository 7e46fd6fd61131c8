"""Who did what, with the four facts of every change; append-only and sealed in batches."""

from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

ACTOR_KINDS = {"workflow", "sweeper", "reconciler", "human", "command", "system"}


class AuditEvent(GuardedModel):
    """One guarded change or refusal. Partitioned by month; nobody updates or deletes a row."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    tx = models.BigIntegerField()
    actor_kind = models.TextField()
    actor = models.TextField()
    op = models.TextField()
    outcome = models.TextField()
    key = models.TextField()
    expected_hash = models.TextField()
    actual_hash = models.TextField()
    row_count = models.IntegerField()
    target = models.TextField(null=True)
    record_key = models.TextField(null=True)
    job_id = models.TextField(null=True)
    conflict_id = models.BigIntegerField(null=True)
    workflow = models.TextField(null=True)
    workflow_version = models.TextField(null=True)
    execution_id = models.TextField(null=True)
    attempt = models.IntegerField(null=True)
    after_retry = models.BooleanField(db_default=False)
    lock_wait_ms = models.FloatField()
    duration_ms = models.FloatField()
    before = SafeJSONField(null=True)
    after = SafeJSONField(null=True)
    reason = models.TextField(null=True)
    row_hash = models.BinaryField()

    class Meta:
        db_table = "audit_events"
        constraints = [
            known("actor_kind", ACTOR_KINDS, "audit_events"),
            models.CheckConstraint(
                condition=~models.Q(key="")
                & ~models.Q(expected_hash="")
                & ~models.Q(actual_hash=""),
                name="audit_events_facts_not_blank",
            ),
        ]
        indexes = [
            models.Index(fields=["key", "at"], name="audit_events_by_key"),
            models.Index(
                fields=["op", "outcome", "at"],
                condition=models.Q(after_retry=True),
                name="audit_events_retried",
            ),
            models.Index(
                fields=["conflict_id"],
                condition=models.Q(conflict_id__isnull=False),
                name="audit_events_by_conflict",
            ),
            models.Index(
                fields=["job_id"],
                condition=models.Q(job_id__isnull=False),
                name="audit_events_by_job",
            ),
            models.Index(
                fields=["target", "record_key", "at"],
                condition=models.Q(record_key__isnull=False),
                name="audit_events_by_record",
            ),
            models.Index(
                fields=["actor", "at"],
                condition=models.Q(actor_kind="human"),
                name="audit_events_by_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.op}: {self.outcome}"


class AuditSeal(GuardedModel):
    """A root hash over one batch of audit rows and the seal before it.

    Transaction numbers belong to one cluster of databases. Where a restore brought the rows into
    another one, a seal that ``closes`` covers all the seals before it left out, up to ``to_id``;
    those after it speak of rows above ``floor_id`` only.
    """

    id = models.BigAutoField(primary_key=True)
    from_id = models.BigIntegerField()
    to_id = models.BigIntegerField()
    from_tx = models.BigIntegerField()
    to_tx = models.BigIntegerField()
    rows = models.BigIntegerField()
    root_hash = models.BinaryField()
    cluster = models.BigIntegerField(null=True)
    floor_id = models.BigIntegerField(db_default=0)
    closes = models.BooleanField(db_default=False)
    prev_seal = models.BinaryField(null=True)
    sealed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "audit_seals"

    def __str__(self) -> str:
        return f"seal {self.id}"
