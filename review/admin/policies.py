"""One row per constant."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin

from ledger.models import Policy
from review.admin.base import CELL, GuardedAdmin, bounded
from review.language import later
from review.text import shown

if TYPE_CHECKING:
    from django.db import models


@admin.register(Policy)
class PolicyAdmin(GuardedAdmin):
    """One row per constant."""

    list_display = (
        bounded("name"),
        "value",
        bounded("unit"),
        bounded("note"),
        "source",
        "set_by",
        "set_at",
    )
    search_exact = ("name",)
    ordering = ("pk",)

    @admin.display(description=later("value"))
    def value(self, row: Any) -> str:
        """Write the constant itself, which is short, as JSON."""
        return shown(json.dumps(row.value, ensure_ascii=False, default=str), CELL)

    def _heavy(self) -> list["models.Field[Any, Any]"]:
        """Keep nothing back: a constant is no content of anybody's."""
        return []
