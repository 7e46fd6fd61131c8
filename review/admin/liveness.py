"""When each tick last ended well."""

from django.contrib import admin

from ledger.models import Liveness
from review.admin.base import GuardedAdmin, bounded


@admin.register(Liveness)
class LivenessAdmin(GuardedAdmin):
    """When each tick last ended well."""

    list_display = (
        bounded("name"),
        bounded("host"),
        "last_success_at",
        "interval_seconds",
        "jitter_seconds",
    )
    search_exact = ("name",)
    ordering = ("pk",)
