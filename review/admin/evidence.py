"""What somebody outside said about a job's effect."""

from django.contrib import admin

from ledger.models import Evidence
from review.admin.base import GuardedAdmin, bounded


@admin.register(Evidence)
class EvidenceAdmin(GuardedAdmin):
    """What somebody outside said about a job's effect."""

    list_display = (
        bounded("job_id"),
        bounded("kind"),
        bounded("source"),
        bounded("provider_ref"),
        "send_no",
        "observed_at",
    )
    search_exact = ("job_id",)
    actors = ("source",)
