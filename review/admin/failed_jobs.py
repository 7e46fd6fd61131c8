"""Dead letters: work that gave up."""

from django.contrib import admin

from ledger.models import FailedJob
from review.admin.base import GuardedAdmin, bounded


@admin.register(FailedJob)
class FailedJobAdmin(GuardedAdmin):
    """Dead letters: work that gave up."""

    list_display = (
        bounded("workflow_name"),
        bounded("error_node"),
        bounded("error_message"),
        "state",
        "retry_count",
        "failed_at",
    )
    search_exact = ("id",)
