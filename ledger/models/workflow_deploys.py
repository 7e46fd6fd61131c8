"""What was deployed, from which export, and what its baselines began with."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField
from ledger.models.workflows import Workflow


class WorkflowDeploy(GuardedModel):
    """One version of a workflow as it was derived from its export; written once."""

    workflow = models.ForeignKey(
        Workflow, models.DO_NOTHING, db_column="workflow", related_name="+"
    )
    version = models.TextField()
    export_sha256 = models.TextField()
    deployed_by = models.TextField()
    at = models.DateTimeField(db_default=Now())
    check_report = SafeJSONField()
    anchor_statement = SafeJSONField()

    class Meta:
        db_table = "workflow_deploys"
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "version"], name="workflow_deploys_version_once"
            ),
            models.CheckConstraint(
                condition=Q(anchor_statement__kind__in=["carry", "seed", "empty"]),
                name="workflow_deploys_anchor_stated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workflow_id} {self.version}"
