"""Versioned tables of the user: who owns a field, which moves a status may make, and history."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField


class Target(GuardedModel):
    """A user's table whose rows carry a revision, or a store outside this database.

    A table for one client alone names the target it was made after and the client's own id.
    """

    name = models.TextField(primary_key=True)
    table = models.TextField(null=True)
    pk_column = models.TextField(db_default="id")
    revision_column = models.TextField(db_default="revision")
    status_column = models.TextField(null=True)
    external = models.BooleanField(db_default=False)
    client_of = models.TextField(null=True)
    client_id = models.TextField(null=True)

    class Meta:
        db_table = "targets"
        constraints = [
            models.UniqueConstraint(
                fields=["client_of", "client_id"], name="targets_one_per_client"
            ),
            models.CheckConstraint(
                condition=models.Q(external=True) | models.Q(table__isnull=False),
                name="targets_table_unless_external",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class FieldOwnership(GuardedModel):
    """A workflow may write this field of this target."""

    pk = models.CompositePrimaryKey("target", "field", "workflow")
    target = models.TextField()
    field = models.TextField()
    workflow = models.TextField()
    exclusive = models.BooleanField(db_default=True)
    sensitive = models.BooleanField(db_default=False)

    class Meta:
        db_table = "field_ownership"
        constraints = [
            models.UniqueConstraint(
                fields=["target", "field"],
                condition=models.Q(exclusive=True),
                name="field_ownership_one_exclusive_owner",
            )
        ]

    def __str__(self) -> str:
        return f"{self.target}.{self.field} by {self.workflow}"


class AllowedTransition(GuardedModel):
    """A move a state machine may make; triggers and write_fields refuse every other one."""

    pk = models.CompositePrimaryKey("machine", "from_state", "to_state", "workflow")
    machine = models.TextField()
    from_state = models.TextField()
    to_state = models.TextField()
    workflow = models.TextField(db_default="*")

    class Meta:
        db_table = "allowed_transitions"

    def __str__(self) -> str:
        return f"{self.machine}: {self.from_state} -> {self.to_state}"


class RecordHistory(GuardedModel):
    """One row per accepted change of a target row, written by the target's trigger.

    ``by_workflow`` is set for a write of the ledger's own alone; any other names its login only.
    """

    pk = models.CompositePrimaryKey("target", "record_key", "revision")
    target = models.TextField()
    record_key = models.TextField()
    revision = models.BigIntegerField()
    row_data = SafeJSONField()
    changed = ArrayField(models.TextField())
    by_workflow = models.TextField(null=True)
    by_login = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "record_history"
        verbose_name_plural = "record history"

    def __str__(self) -> str:
        return f"{self.target}/{self.record_key} v{self.revision}"
