"""Long imports that persist their cursor, so that a restart resumes instead of repeating."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, known


class BatchRun(GuardedModel):
    """One run of a batch workflow, with its cursor and its lease."""

    id = models.BigAutoField(primary_key=True)
    workflow_name = models.TextField()
    last_cursor = models.TextField(null=True)
    items_processed = models.BigIntegerField(db_default=0)
    chunk_no = models.IntegerField(db_default=0)
    status = models.TextField(db_default="running")
    owner_token = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(db_default=Now())
    completed_at = models.DateTimeField(null=True)
    last_error = models.TextField(null=True)
    acked_by = models.TextField(null=True)
    acked_at = models.DateTimeField(null=True)
    guarded = models.BooleanField(db_default=False)
    lock_version = models.BigIntegerField(db_default=1)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "batch_runs"
        constraints = [
            known("status", {"running", "complete", "failed"}, "batch_runs"),
            models.UniqueConstraint(
                fields=["workflow_name"],
                condition=Q(status="running", guarded=True),
                name="batch_runs_one_running_per_workflow",
            ),
            models.CheckConstraint(
                condition=Q(waiting_since=None) | Q(status__in=["running", "failed"]),
                name="batch_runs_wait_only_when_unfinished",
            ),
        ]
        indexes = [
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="batch_runs_waiting",
            ),
            models.Index(
                fields=["workflow_name", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="batch_runs_waiting_by_workflow",
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.id} of {self.workflow_name}"
