"""What a workflow does to the outside: an effect, its key and who works it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, known
from ledger.models.providers import Provider
from ledger.models.workflows import Workflow


class Effect(GuardedModel):
    """One kind of effect of one workflow, sent to one provider."""

    name = models.TextField(primary_key=True)
    workflow = models.ForeignKey(
        Workflow, models.DO_NOTHING, db_column="workflow", related_name="+"
    )
    provider = models.ForeignKey(
        Provider, models.DO_NOTHING, db_column="provider", related_name="+"
    )
    kind = models.TextField(db_default="replace")
    current_version = models.IntegerField(db_default=1)
    key_spec_version = models.IntegerField(db_default=1)
    delivery = models.TextField(db_default="workflow_queue")
    wake_url = models.TextField(null=True)
    amount_path = models.TextField(null=True)
    title = models.TextField(null=True)
    version = models.BigIntegerField(db_default=1)

    class Meta:
        db_table = "effects"
        constraints = [
            known("kind", {"replace", "add"}, "effects"),
            known("delivery", {"workflow_queue", "native", "wake_webhook"}, "effects"),
        ]

    def __str__(self) -> str:
        return self.name


class KeySpec(GuardedModel):
    """How the idempotency key of an effect is derived; old versions stay for look-ups."""

    pk = models.CompositePrimaryKey("effect", "version")
    effect = models.TextField()
    version = models.IntegerField()
    mode = models.TextField(db_default="event_id")
    fields = ArrayField(models.TextField())
    canon = ArrayField(models.TextField())
    retired_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "key_specs"
        constraints = [
            known("mode", {"event_id", "hash_fields"}, "key_specs"),
            models.CheckConstraint(
                condition=models.Q(fields__len__gte=1, canon__len=models.F("fields__len")),
                name="key_specs_one_canon_per_field",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effect} v{self.version}"
