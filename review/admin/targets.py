"""Versioned tables of the user, and stores outside."""

from django.contrib import admin

from ledger.models import Target
from review.admin.base import GuardedAdmin, bounded


@admin.register(Target)
class TargetAdmin(GuardedAdmin):
    """Versioned tables of the user, and stores outside."""

    list_display = (
        bounded("name"),
        bounded("table"),
        bounded("pk_column"),
        bounded("revision_column"),
        bounded("status_column"),
        "external",
    )
    search_exact = ("name",)
    ordering = ("pk",)
