"""The jobs: every piece of guarded work, by id or key."""

from django.contrib import admin

from ledger.models import Job
from review.admin.base import GuardedAdmin, bounded


@admin.register(Job)
class JobAdmin(GuardedAdmin):
    """The jobs: every piece of guarded work, by id or key."""

    list_display = (
        bounded("id"),
        bounded("effect"),
        bounded("workflow"),
        bounded("provider"),
        "state",
        "attempts",
        "lease_expires_at",
        "updated_at",
    )
    search_exact = ("id", "idem_key")
    ordering = ("pk",)
