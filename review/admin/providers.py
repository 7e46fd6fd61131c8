"""Whom effects are sent to, and how they treat a repeat."""

from django.contrib import admin

from ledger.models import Provider
from review.admin.base import GuardedAdmin, bounded
from review.language import later


@admin.register(Provider)
class ProviderAdmin(GuardedAdmin):
    """Whom effects are sent to, and how they treat a repeat."""

    list_display = (
        bounded("name"),
        bounded("class_field", later("class")),
        bounded("lookup_adapter"),
        "lease_seconds",
        "settle_seconds",
        "auto_registered",
    )
    search_exact = ("name",)
    ordering = ("pk",)
