"""One row per constant."""

from django.contrib import admin

from ledger.models import Policy
from review.admin.base import GuardedAdmin, bounded


@admin.register(Policy)
class PolicyAdmin(GuardedAdmin):
    """One row per constant."""

    list_display = (bounded("name"), bounded("unit"), bounded("note"), "source", "set_by", "set_at")
    search_exact = ("name",)
    ordering = ("pk",)
