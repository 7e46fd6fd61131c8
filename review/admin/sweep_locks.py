"""Single flight of everything periodic."""

from django.contrib import admin

from ledger.models import SweepLock
from review.admin.base import GuardedAdmin, bounded


@admin.register(SweepLock)
class SweepLockAdmin(GuardedAdmin):
    """Single flight of everything periodic."""

    list_display = (
        bounded("name"),
        bounded("holder"),
        "fence",
        "acquired_at",
        "lease_expires_at",
        "last_finished_at",
    )
    search_exact = ("name",)
    ordering = ("pk",)
