"""Single flight and proof of life of everything periodic."""

from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel


class SweepLock(GuardedModel):
    """One row per tick: its holder, a lease, and a fence that only grows."""

    name = models.TextField(primary_key=True)
    holder = models.TextField(null=True)
    token = models.UUIDField(null=True)
    fence = models.BigIntegerField(db_default=0)
    acquired_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    last_finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "sweep_locks"

    def __str__(self) -> str:
        return self.name


class Liveness(GuardedModel):
    """When a tick last ended well. Written as its last act; absence is the alarm."""

    name = models.TextField(primary_key=True)
    last_success_at = models.DateTimeField(db_default=Now())
    interval_seconds = models.IntegerField()
    jitter_seconds = models.IntegerField()
    host = models.TextField(db_default="")
    report = models.JSONField(null=True)

    class Meta:
        db_table = "liveness"
        verbose_name_plural = "liveness"

    def __str__(self) -> str:
        return self.name
