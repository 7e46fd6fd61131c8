"""Dead letters: work that gave up, with its error, until a person or the schedule ends it."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

LIVING = ["open", "retrying", "exhausted"]


class FailedJob(GuardedModel):
    """One dead letter. At most one living row per job."""

    id = models.BigAutoField(primary_key=True)
    workflow_name = models.TextField()
    item_key = models.TextField(null=True)
    job_id = models.TextField(null=True)
    effect = models.TextField(null=True)
    event = SafeJSONField(null=True)
    idem_keys = ArrayField(models.TextField(), null=True)
    payload = SafeJSONField(null=True)
    payload_size = models.BigIntegerField(null=True)
    payload_sha256 = models.BinaryField(null=True)
    payload_truncated = models.BooleanField(db_default=False)
    payload_ref = models.TextField(null=True)
    error_message = models.TextField(null=True)
    error_node = models.TextField(null=True)
    retry_count = models.IntegerField(db_default=0)
    failed_at = models.DateTimeField(db_default=Now())
    state = models.TextField(db_default="open")
    next_retry_at = models.DateTimeField(null=True)
    last_retry_at = models.DateTimeField(null=True)
    pages_sent = models.IntegerField(db_default=0)
    acked_by = models.TextField(null=True)
    acked_at = models.DateTimeField(null=True)
    resolved_by = models.TextField(null=True)
    resolved_at = models.DateTimeField(null=True)
    reason = models.TextField(null=True)
    # A resend with changed content that waits for a second person, as it was asked for.
    proposed = SafeJSONField(null=True)
    proposed_by = models.TextField(null=True)
    proposed_at = models.DateTimeField(null=True)
    lock_version = models.BigIntegerField(db_default=1)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "failed_jobs"
        constraints = [
            known("state", {*LIVING, "resolved", "abandoned"}, "failed_jobs"),
            models.UniqueConstraint(
                fields=["job_id"],
                condition=Q(state__in=LIVING),
                name="failed_jobs_one_living_per_job",
            ),
            models.CheckConstraint(
                condition=Q(waiting_since=None) | Q(state__in=["open", "exhausted"]),
                name="failed_jobs_wait_only_when_stopped",
            ),
            models.CheckConstraint(
                condition=Q(proposed__isnull=True, proposed_by=None, proposed_at=None)
                | Q(
                    proposed__isnull=False,
                    proposed_by__isnull=False,
                    proposed_at__isnull=False,
                    state__in=["open", "exhausted"],
                ),
                name="failed_jobs_proposal_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workflow_name", "retry_count"],
                condition=Q(state="open"),
                name="failed_jobs_open",
            ),
            GinIndex(
                fields=["idem_keys"],
                condition=Q(state__in=LIVING),
                name="failed_jobs_living_by_key",
            ),
            models.Index(
                fields=["failed_at"],
                condition=Q(state__in=["open", "exhausted"]),
                name="failed_jobs_unseen",
            ),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="failed_jobs_waiting",
            ),
            models.Index(
                fields=["workflow_name", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="failed_jobs_waiting_by_flow",
            ),
            GinIndex(
                OpClass("payload", "jsonb_path_ops"),
                condition=Q(waiting_since__isnull=False),
                name="failed_jobs_waiting_payload",
            ),
        ]

    def __str__(self) -> str:
        return f"dead letter {self.id}"
