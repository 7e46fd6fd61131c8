"""What a monitor wants somebody to know, until it is over."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, known


class Alert(GuardedModel):
    """One thing that is wrong, from the look that found it to the look that found it gone."""

    id = models.BigAutoField(primary_key=True)
    check_name = models.TextField(db_column="check")
    dedupe_key = models.TextField()
    severity = models.TextField()
    state = models.TextField(db_default="firing")
    value = models.FloatField(null=True)
    threshold = models.FloatField(null=True)
    first_at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())
    pages_sent = models.IntegerField(db_default=0)
    acked_by = models.TextField(null=True)
    acked_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    version = models.BigIntegerField(db_default=1)

    class Meta:
        db_table = "alerts"
        constraints = [
            known("severity", {"warn", "page"}, "alerts"),
            known("state", {"firing", "acked", "resolved"}, "alerts"),
            models.UniqueConstraint(
                fields=["check_name", "dedupe_key"],
                condition=~Q(state="resolved"),
                name="alerts_one_living_per_key",
            ),
            models.CheckConstraint(
                condition=Q(acked_by=None, acked_at=None)
                | Q(acked_by__isnull=False, acked_at__isnull=False),
                name="alerts_acked_by_and_at",
            ),
            models.CheckConstraint(
                condition=~Q(state="acked") | Q(acked_at__isnull=False),
                name="alerts_acked_has_who",
            ),
            models.CheckConstraint(
                condition=Q(state="resolved", resolved_at__isnull=False)
                | (~Q(state="resolved") & Q(resolved_at=None)),
                name="alerts_resolved_iff_over",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.check_name}: {self.dedupe_key}"
