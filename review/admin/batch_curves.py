"""Measured batch sizes: what single writers waited beside batches of rising size."""

from django.contrib import admin

from ledger.models import BatchCurve
from review.admin.base import GuardedAdmin, bounded


@admin.register(BatchCurve)
class BatchCurveAdmin(GuardedAdmin):
    """Measured batch sizes, one row a measurement."""

    list_display = (
        bounded("table_name"),
        "measured_at",
        bounded("predicate"),
        "threshold",
        "knee",
        bounded("measured_by"),
    )
    search_exact = ("table_name",)
