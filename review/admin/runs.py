"""Executions of the engine behind jobs."""

from django.contrib import admin

from ledger.models import Run
from review.admin.base import GuardedAdmin, bounded


@admin.register(Run)
class RunAdmin(GuardedAdmin):
    """Executions of the engine behind jobs."""

    list_display = (
        bounded("id"),
        bounded("workflow"),
        bounded("external_execution_id"),
        bounded("engine_status"),
        "status",
        "started_at",
        "deadline_at",
        "last_checked_at",
    )
    search_exact = ("id",)
