"""Messages to the outside."""

from django.contrib import admin

from ledger.models import OutboxMessage
from review.admin.base import GuardedAdmin, bounded


@admin.register(OutboxMessage)
class OutboxMessageAdmin(GuardedAdmin):
    """Messages to the outside."""

    list_display = (
        bounded("topic"),
        bounded("subject"),
        bounded("last_error"),
        "attempts",
        "created_at",
        "published_at",
        "given_up_at",
    )
    search_exact = ("id",)
