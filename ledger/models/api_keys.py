"""Tokens of the HTTP door: only their hash is stored."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel


class ApiKey(GuardedModel):
    """A token of exactly one workflow or of exactly one person."""

    id = models.BigAutoField(primary_key=True)
    workflow = models.TextField(null=True)
    user_name = models.TextField(null=True)
    sha256 = models.BinaryField(unique=True)
    scopes = ArrayField(models.TextField(), db_default=[])
    note = models.TextField(db_default="")
    created_by = models.TextField(db_default="")
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_keys"
        constraints = [
            models.CheckConstraint(
                condition=Q(workflow=None, user_name__isnull=False)
                | Q(workflow__isnull=False, user_name=None),
                name="api_keys_workflow_or_person",
            )
        ]

    def __str__(self) -> str:
        return f"token {self.id}"
