"""What must hold at the moment a record is written."""

from django.contrib import admin

from ledger.models import Rule
from review.admin.base import GuardedAdmin, bounded


@admin.register(Rule)
class RuleAdmin(GuardedAdmin):
    """What must hold at the moment a record is written."""

    list_display = (
        bounded("target"),
        bounded("name"),
        bounded("fn"),
        "registered_at",
        "registered_by",
    )
    search_exact = ("target", "name")
