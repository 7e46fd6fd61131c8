"""The live idempotency keys: the one gate of every effect."""

from django.contrib import admin

from ledger.models import Idem
from review.admin.base import GuardedAdmin, bounded


@admin.register(Idem)
class IdemAdmin(GuardedAdmin):
    """The live idempotency keys: the one gate of every effect."""

    list_display = (
        bounded("idem_key"),
        bounded("effect"),
        bounded("workflow"),
        "status",
        "outcome",
        "claimed_at",
        "done_at",
    )
    search_exact = ("idem_key",)
    ordering = ("pk",)
