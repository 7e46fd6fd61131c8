"""How long single writers waited beside batches of rising size, table by table."""

from django.db import models
from django.db.models import Q

from ledger.models.base import GuardedModel, SafeJSONField


class BatchCurve(GuardedModel):
    """One measurement of one table: the sample it was made on, the curve, and what it suggests."""

    pk = models.CompositePrimaryKey("table_name", "measured_at")
    table_name = models.TextField()
    measured_at = models.DateTimeField()
    predicate = models.TextField()
    sample = SafeJSONField()
    curve = SafeJSONField()
    knee = models.IntegerField(null=True)
    threshold = models.IntegerField(null=True)
    measured_by = models.TextField()

    class Meta:
        db_table = "batch_curves"
        constraints = [
            models.CheckConstraint(
                condition=Q(threshold=None, knee=None)
                | Q(threshold__gte=1, knee__gt=models.F("threshold")),
                name="batch_curves_threshold_below_knee",
            )
        ]

    def __str__(self) -> str:
        return f"{self.table_name} at {self.measured_at}"
