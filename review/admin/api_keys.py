"""Tokens of the HTTP door; only their hash is stored."""

from django.contrib import admin

from ledger.models import ApiKey
from review.admin.base import GuardedAdmin, bounded


@admin.register(ApiKey)
class ApiKeyAdmin(GuardedAdmin):
    """Tokens of the HTTP door; only their hash is stored."""

    list_display = (
        bounded("workflow"),
        bounded("user_name"),
        bounded("note"),
        "created_by",
        "created_at",
        "revoked_at",
    )
    search_exact = (
        "id",
        "workflow",
        "user_name",
    )
    hidden = ("sha256",)
