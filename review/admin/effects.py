"""What workflows do to the outside."""

from django.contrib import admin

from ledger.models import Effect
from review.admin.base import GuardedAdmin, bounded


@admin.register(Effect)
class EffectAdmin(GuardedAdmin):
    """What workflows do to the outside."""

    list_display = (
        bounded("name"),
        bounded("workflow_id"),
        bounded("provider_id"),
        bounded("kind"),
        bounded("delivery"),
        "current_version",
    )
    search_exact = ("name",)
    ordering = ("pk",)
