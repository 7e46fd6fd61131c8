"""The workflows that may call: every operation refuses a name that is not here."""

from django.db import models
from django.db.models.functions import Now

from ledger.models.base import GuardedModel


class Workflow(GuardedModel):
    """One n8n workflow, with the version its last deploy registered."""

    name = models.TextField(primary_key=True)
    n8n_workflow_id = models.TextField(null=True, unique=True)
    active_version = models.TextField(db_default="1")
    export_sha256 = models.TextField(null=True)
    exported_at = models.DateTimeField(null=True)
    db_role = models.TextField(null=True, unique=True)
    read_dsn_alias = models.TextField(null=True)
    max_runtime_seconds = models.IntegerField(null=True)
    decision_webhook = models.TextField(null=True)
    editor_url = models.TextField(null=True)
    sends_dominated = models.BooleanField(db_default=False)
    enabled = models.BooleanField(db_default=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "workflows"

    def __str__(self) -> str:
        return self.name
