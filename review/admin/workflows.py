"""The workflows that may call."""

from django.contrib import admin

from ledger.models import Workflow
from review.admin.base import GuardedAdmin, bounded


@admin.register(Workflow)
class WorkflowAdmin(GuardedAdmin):
    """The workflows that may call."""

    list_display = (
        bounded("name"),
        bounded("active_version"),
        bounded("n8n_workflow_id"),
        "sends_dominated",
        "enabled",
        "created_at",
    )
    search_exact = ("name",)
    ordering = ("pk",)
