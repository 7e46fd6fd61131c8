"""Business rules of targets: what must hold at the moment a record is written."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel


class Rule(GuardedModel):
    """One rule of a target; its function locks what it reads and then looks.

    ``fields`` are those whose change makes it run, none means any change; ``reads`` are the tables
    its check reads, as PostgreSQL found them when it was registered.
    """

    target = models.TextField()
    name = models.TextField()
    fields = ArrayField(models.TextField())
    fn = models.TextField(unique=True)
    reads = ArrayField(models.TextField())
    source = models.TextField()
    source_sha256 = models.TextField()
    registered_at = models.DateTimeField(db_default=Now())
    registered_by = models.TextField()

    class Meta:
        db_table = "rules"
        constraints = [
            models.UniqueConstraint(fields=["target", "name"], name="rules_one_name_per_target")
        ]

    def __str__(self) -> str:
        return f"{self.target}.{self.name}"
