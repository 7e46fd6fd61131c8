"""Executions of the engine behind jobs; never ended here while the engine may still run."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

ENGINE_ENDED = ["success", "error", "crashed", "canceled"]


class Run(GuardedModel):
    """One execution, with what the engine last said of it.

    A stop is asked for with ``stop_requested_at``; ``stop_requested_by`` names the person, and is
    NULL where the run's deadline asked. The reconciler sends it, ``stops_asked`` times so far.
    """

    id = models.UUIDField(primary_key=True)
    workflow = models.TextField()
    job_id = models.TextField(null=True)
    instance = models.TextField(db_default="default")
    external_execution_id = models.TextField(null=True)
    status = models.TextField(db_default="running")
    started_at = models.DateTimeField(db_default=Now())
    deadline_at = models.DateTimeField(null=True)
    engine_status = models.TextField(null=True)
    engine_stopped_at = models.DateTimeField(null=True)
    terminal_first_seen_at = models.DateTimeField(null=True)
    last_checked_at = models.DateTimeField(null=True)
    engine_unknown_since = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    stop_requested_by = models.TextField(null=True)
    stops_asked = models.IntegerField(db_default=0)
    stop_result = models.TextField(null=True)
    needs_operator = models.BooleanField(db_default=False)
    flag_muted_until = models.DateTimeField(null=True)
    operator_note = models.TextField(null=True)
    result = SafeJSONField(null=True)
    late_result = SafeJSONField(null=True)
    error = models.TextField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.TextField(null=True)
    engine_confirmed_at = models.DateTimeField(null=True)
    lock_version = models.BigIntegerField(db_default=1)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "runs"
        constraints = [
            known(
                "status",
                {"running", "completed", "failed", "failed_transient", "cancelled"},
                "runs",
            ),
            models.UniqueConstraint(
                fields=["instance", "external_execution_id"], name="runs_one_per_execution"
            ),
            models.CheckConstraint(
                condition=~Q(status="failed_transient")
                | Q(
                    external_execution_id__isnull=False,
                    engine_stopped_at__isnull=False,
                    terminal_first_seen_at__isnull=False,
                    engine_status__in=ENGINE_ENDED,
                ),
                name="runs_transient_only_when_engine_ended",
            ),
            models.CheckConstraint(
                condition=~Q(status="completed") | Q(result__isnull=False),
                name="runs_completed_has_result",
            ),
            models.CheckConstraint(
                condition=Q(status="running", ended_at=None)
                | (~Q(status="running") & Q(ended_at__isnull=False)),
                name="runs_ended_iff_not_running",
            ),
            models.CheckConstraint(
                condition=Q(waiting_since=None) | Q(status="running", needs_operator=True),
                name="runs_wait_only_when_flagged",
            ),
        ]
        indexes = [
            models.Index(
                fields=["last_checked_at"], condition=Q(status="running"), name="runs_running"
            ),
            models.Index(
                fields=["ended_at"],
                condition=Q(ended_at__isnull=False, engine_confirmed_at=None),
                name="runs_unconfirmed",
            ),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="runs_waiting",
            ),
            models.Index(
                fields=["workflow", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="runs_waiting_by_workflow",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
