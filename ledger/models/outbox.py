"""Messages to the outside, written in the transaction they tell of and published later."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField


class OutboxMessage(GuardedModel):
    """One message; a receiver dedups on (topic, key)."""

    id = models.BigAutoField(primary_key=True)
    topic = models.TextField()
    subject = models.TextField()
    key = models.TextField()
    workflow = models.TextField(null=True)
    payload = SafeJSONField()
    created_at = models.DateTimeField(db_default=Now())
    published_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(db_default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    last_error = models.TextField(null=True)
    given_up_at = models.DateTimeField(null=True)
    dropped_at = models.DateTimeField(null=True)
    lock_version = models.BigIntegerField(db_default=1)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "outbox"
        verbose_name = "outbox message"
        constraints = [
            models.UniqueConstraint(fields=["topic", "key"], name="outbox_one_per_event"),
            models.CheckConstraint(
                condition=Q(waiting_since=None)
                | Q(given_up_at__isnull=False, published_at=None, dropped_at=None),
                name="outbox_waits_only_when_given_up",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(published_at__isnull=True),
                name="outbox_unpublished",
            ),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="outbox_waiting",
            ),
            models.Index(
                fields=["workflow", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="outbox_waiting_by_workflow",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.key}"
