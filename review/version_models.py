"""What people made of a content before it was sent again, version by version.

A row is written before the ledger is asked, so that no content that may have been sent is lost;
what came of it is in the ledger's audit, found by the digest. review.edits has these rows.
"""

from django.db import models
from django.db.models.functions import Now


class PayloadVersion(models.Model):
    """One content of an item: the first as it came, each later one as a person changed it."""

    # The runtime login may add rows and read them.
    append_only = True

    source = models.TextField()
    item_id = models.TextField()
    # SHA-256 of the bytes, and of those it was made of; the first version has no parent.
    sha256 = models.TextField()
    parent_sha256 = models.TextField(blank=True, default="")
    body = models.TextField()
    # The event under whose key it was to go; empty where it kept its key.
    event = models.TextField(blank=True, default="")
    by = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "review_payload_versions"
        default_permissions = ()
        indexes = (
            models.Index(fields=["source", "item_id", "id"], name="payload_versions_by_item"),
            models.Index(fields=["sha256"], name="payload_versions_by_digest"),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.item_id}: {self.sha256[:12]}"
