"""What is normal for one operation of one workflow version, and since when that is said."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField


class Baseline(GuardedModel):
    """An anchor with its tolerance, its date and who set it; compared within its version only."""

    pk = models.CompositePrimaryKey("workflow", "workflow_version", "op", "metric")
    workflow = models.TextField()
    workflow_version = models.TextField()
    op = models.TextField()
    metric = models.TextField()
    anchor = models.FloatField()
    tolerance = models.FloatField()
    set_at = models.DateTimeField(db_default=Now())
    set_by = models.TextField()
    rechecked_at = models.DateTimeField(null=True)
    rechecked_by = models.TextField(null=True)
    samples = models.IntegerField(db_default=0)
    seeded_from = models.TextField(null=True)
    seed_check = SafeJSONField(null=True)
    carried_from_version = models.TextField(null=True)
    widen_factor = models.FloatField(null=True)
    widen_until = models.DateTimeField(null=True)
    cap = models.FloatField(null=True)
    version = models.BigIntegerField(db_default=1)

    class Meta:
        db_table = "baselines"
        constraints = [
            models.CheckConstraint(
                condition=Q(anchor__gte=0, tolerance__gte=1, samples__gte=0),
                name="baselines_numbers_in_range",
            ),
            models.CheckConstraint(
                condition=Q(rechecked_at=None, rechecked_by=None)
                | Q(rechecked_at__isnull=False, rechecked_by__isnull=False),
                name="baselines_rechecked_by_and_at",
            ),
            models.CheckConstraint(
                condition=Q(seeded_from=None) | Q(seed_check__isnull=False),
                name="baselines_seed_was_checked",
            ),
            models.CheckConstraint(
                condition=Q(widen_factor=None, widen_until=None)
                | Q(widen_factor__gte=1, widen_until__isnull=False),
                name="baselines_wider_until",
            ),
            models.CheckConstraint(
                condition=Q(carried_from_version=None)
                | (Q(widen_until__isnull=False) & ~Q(carried_from_version=F("workflow_version"))),
                name="baselines_carried_is_wider",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workflow} {self.workflow_version} {self.op} {self.metric}"
