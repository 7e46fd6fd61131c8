"""Whom effects are sent to, and what is known of how they treat a repeat."""

from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

CLASSES = {"forced_unique", "advisory_handle", "advisory_blind"}


class Provider(GuardedModel):
    """One provider: its class decides what recovery may do without a person."""

    name = models.TextField(primary_key=True)
    class_field = models.TextField("class", db_column="class")
    lookup_adapter = models.TextField(null=True)
    lookup_config = SafeJSONField(db_default={})
    lease_seconds = models.IntegerField(db_default=600)
    heartbeat_seconds = models.IntegerField(null=True)
    settle_seconds = models.IntegerField(db_default=900)
    unmarked_action = models.TextField(db_default="review")
    max_attempts = models.IntegerField(db_default=3)
    max_lookup_errors = models.IntegerField(db_default=10)
    retry_horizon = models.DurationField(db_default=timedelta(days=3))
    replay_horizon = models.DurationField(db_default=timedelta(days=30))
    retention_margin = models.DurationField(db_default=timedelta(days=1))
    archive_expiry = models.DurationField(null=True)
    archive_signed_by = models.TextField(null=True)
    archive_signed_at = models.DateTimeField(null=True)
    key_ttl_seconds = models.BigIntegerField(null=True)
    key_unlimited = models.BooleanField(db_default=False)
    caches_errors = models.BooleanField(db_default=False)
    mismatch = models.TextField(db_default="error")
    lookup_by_reference = models.BooleanField(db_default=False)
    profile = SafeJSONField(db_default={})
    auto_registered = models.BooleanField(db_default=False)
    version = models.BigIntegerField(db_default=1)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "providers"
        constraints = [
            known("class_field", CLASSES, "providers"),
            known("unmarked_action", {"review", "requeue"}, "providers"),
            known("mismatch", {"error", "ignored"}, "providers"),
            models.CheckConstraint(
                condition=Q(lease_seconds__gte=5, lease_seconds__lte=86400),
                name="providers_lease_in_range",
            ),
            models.CheckConstraint(
                condition=Q(heartbeat_seconds=None)
                | Q(heartbeat_seconds__gt=0, lease_seconds__gte=models.F("heartbeat_seconds") * 4),
                name="providers_heartbeat_fits_lease_four_times",
            ),
            models.CheckConstraint(
                condition=~Q(class_field="forced_unique")
                | Q(key_ttl_seconds__isnull=False, key_ttl_seconds__gt=0)
                | Q(key_unlimited=True),
                name="providers_forced_unique_has_key_lifetime",
            ),
            models.CheckConstraint(
                condition=~Q(class_field="advisory_handle") | Q(lookup_adapter__isnull=False),
                name="providers_handle_has_lookup",
            ),
            models.CheckConstraint(
                condition=Q(archive_expiry=None, archive_signed_by=None, archive_signed_at=None)
                | Q(
                    archive_expiry__gte=models.F("replay_horizon") + models.F("retention_margin"),
                    archive_signed_by__isnull=False,
                    archive_signed_at__isnull=False,
                ),
                name="providers_expiry_signed_and_past_horizon",
            ),
            models.CheckConstraint(
                condition=Q(settle_seconds__gte=0, max_attempts__gte=1, max_lookup_errors__gte=1),
                name="providers_counts_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name
