"""Long imports and their cursors."""

from django.contrib import admin

from ledger.models import BatchRun
from review.admin.base import GuardedAdmin, bounded


@admin.register(BatchRun)
class BatchRunAdmin(GuardedAdmin):
    """Long imports and their cursors."""

    list_display = (
        bounded("workflow_name"),
        bounded("last_cursor"),
        "status",
        "items_processed",
        "started_at",
        "heartbeat_at",
    )
    search_exact = ("id",)
