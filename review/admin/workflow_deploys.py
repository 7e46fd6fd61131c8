"""The deploys: which export became which version, and what its baselines began with."""

from django.contrib import admin

from ledger.models import WorkflowDeploy
from review.admin.base import GuardedAdmin, bounded


@admin.register(WorkflowDeploy)
class WorkflowDeployAdmin(GuardedAdmin):
    """The deploys, one row a version."""

    list_display = (
        bounded("workflow_id"),
        bounded("version"),
        bounded("deployed_by"),
        "at",
        bounded("export_sha256"),
    )
    search_exact = ("workflow_id",)
