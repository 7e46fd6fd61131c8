"""Who did what; every row holds the four facts."""

from django.contrib import admin

from ledger.models import AuditEvent
from review.admin.base import GuardedAdmin, bounded


@admin.register(AuditEvent)
class AuditEventAdmin(GuardedAdmin):
    """Who did what; every row holds the four facts."""

    list_display = (
        "at",
        "actor",
        bounded("op"),
        bounded("outcome"),
        bounded("key"),
        "row_count",
    )
    search_exact = (
        "key",
        "conflict_id",
        "job_id",
    )
