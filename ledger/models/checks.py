"""The monitors: what is looked at, and what each look found."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField


class Check(GuardedModel):
    """One monitor: its query by name, how often it runs, and the policies it compares with."""

    name = models.TextField(primary_key=True)
    query_name = models.TextField()
    interval_seconds = models.IntegerField()
    jitter_seconds = models.IntegerField()
    warn_policy = models.TextField(null=True)
    page_policy = models.TextField(null=True)
    read_dsn_alias = models.TextField(null=True)
    floor_query = models.TextField(null=True)
    floor_n = models.IntegerField(null=True)
    enabled = models.BooleanField(db_default=True)

    class Meta:
        db_table = "checks"
        constraints = [
            models.CheckConstraint(
                condition=Q(interval_seconds__gt=0, jitter_seconds__gte=0),
                name="checks_interval_in_range",
            ),
            models.CheckConstraint(
                condition=Q(floor_query=None, floor_n=None)
                | Q(floor_query__isnull=False, floor_n__gt=0),
                name="checks_floor_has_both",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CheckRun(GuardedModel):
    """One look of one check; the look that started last decides which alerts fire."""

    id = models.BigAutoField(primary_key=True)
    check_name = models.TextField(db_column="check")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(db_default=Now())
    ok = models.BooleanField()
    matched = models.BigIntegerField(null=True)
    floor_seen = models.BigIntegerField(null=True)
    detail = SafeJSONField(null=True)

    class Meta:
        db_table = "check_runs"
        constraints = [
            models.UniqueConstraint(
                fields=["check_name", "started_at"], name="check_runs_one_per_start"
            )
        ]

    def __str__(self) -> str:
        return f"{self.check_name} at {self.started_at}"
