"""One row per constant: read by the code and by the monitor that watches it."""

from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known


class Policy(GuardedModel):
    """A named constant with its unit, where its value comes from, and who set it."""

    name = models.TextField(primary_key=True)
    value = SafeJSONField()
    unit = models.TextField(db_default="")
    source = models.TextField(db_default="guess")
    note = models.TextField(db_default="")
    set_by = models.TextField(db_default="(shipped)")
    set_at = models.DateTimeField(db_default=Now())
    rechecked_at = models.DateTimeField(null=True)
    version = models.BigIntegerField(db_default=1)

    class Meta:
        db_table = "policies"
        verbose_name_plural = "policies"
        constraints = [known("source", {"seed", "guess", "operator"}, "policies")]

    def __str__(self) -> str:
        return self.name
