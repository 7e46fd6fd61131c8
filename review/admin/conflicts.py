"""Every loss, decided or not; the open ones are worked in the queue."""

from django.contrib import admin

from ledger.models import Conflict
from review.admin.base import GuardedAdmin, bounded


@admin.register(Conflict)
class ConflictAdmin(GuardedAdmin):
    """Every loss, decided or not; the open ones are worked in the queue."""

    list_display = (
        bounded("kind"),
        bounded("state"),
        bounded("workflow"),
        bounded("target"),
        bounded("record_key"),
        "attempt",
        "created_at",
        "resolved_by",
    )
    search_exact = (
        "id",
        "idem_key",
        "job_id",
    )
