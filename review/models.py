"""What belongs to the console itself: the rights of people, and the view of all that waits.

The ledger's tables are in ledger.models. Attention data (who has an item, what is put off, what was
said of it, who looks) has its tables here; review.together reads and writes them. Sets, saved views
and changed contents have theirs in bulk_models, view_models and version_models.
"""

from django.db import models
from django.db.models.functions import Length, Now
from django.db.models.lookups import LessThanOrEqual

from review.bulk_models import BulkItem, BulkSet
from review.version_models import PayloadVersion
from review.view_models import SavedView

__all__ = ["BulkItem", "BulkSet", "PayloadVersion", "QueueItem", "SavedView"]


class QueueItem(models.Model):
    """One thing that waits for a person; the view review_queue is the union of all sources."""

    pk = models.CompositePrimaryKey("source", "item_id")
    source = models.TextField()
    item_id = models.TextField()
    kind = models.TextField()
    workflow = models.TextField()
    opened_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "review_queue"
        default_permissions = ()
        # One right per verb: a role is a set of these (review.roles).
        permissions = (
            ("view", "See the queue, the items and the ledger's tables"),
            ("view_payload", "See the values inside payloads and changes"),
            ("comment", "Comment on an item"),
            ("claim", "Claim an item, so that others see who works on it"),
            ("resolve", "Resolve an item: apply, keep, merge, landed, not landed, accept new"),
            ("resend", "Send an item again, or take the resend back"),
            ("abandon", "Give an item up"),
            ("look_again", "Ask a provider again"),
            ("bulk", "Decide many items at once"),
            ("share_view", "Share a view of the queue with everybody"),
            ("approve", "Confirm or reject what another person proposed"),
            ("edit_payload", "Change a payload before it is resent"),
            (
                "administer",
                "Change policies, providers and retention, run a tick, reset a second factor",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.item_id}"


class Attention(models.Model):
    """What people agreed about an item: who has it and until when, and until when it is put off."""

    source = models.TextField()
    item_id = models.TextField()
    # The item's id where that is a number, so that its row is found by its key.
    number = models.BigIntegerField(null=True)
    claimed_by = models.TextField(blank=True, default="")
    claimed_until = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    # Put off until it has happened so many times.
    ignored_until = models.BigIntegerField(null=True)
    put_off_by = models.TextField(blank=True, default="")

    class Meta:
        db_table = "review_attention"
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["source", "item_id"], name="review_attention_per_item"),
            models.CheckConstraint(
                condition=models.Q(claimed_by="", claimed_until=None)
                | (~models.Q(claimed_by="") & models.Q(claimed_until__isnull=False)),
                name="review_attention_claim_whole",
            ),
        )
        indexes = (
            models.Index(
                fields=["claimed_by"],
                condition=~models.Q(claimed_by=""),
                name="review_attention_claimed",
            ),
            models.Index(
                fields=["id"],
                condition=models.Q(snoozed_until__isnull=False)
                | models.Q(ignored_until__isnull=False),
                name="review_attention_put_off",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.item_id}"


class Note(models.Model):
    """What somebody said or agreed about an item; nobody changes or takes back a row."""

    # The runtime login may add rows and read them.
    append_only = True

    source = models.TextField()
    item_id = models.TextField()
    deed = models.TextField()
    by = models.TextField()
    text = models.TextField(blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "review_notes"
        default_permissions = ()
        indexes = (models.Index(fields=["source", "item_id", "-id"], name="review_notes_by_item"),)
        constraints = (
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), 4000),
                name="review_notes_text_bounded",
            ),
        )

    def __str__(self) -> str:
        return f"{self.by}: {self.deed}"


class Presence(models.Model):
    """Who has the page of an item open; a few minutes later nobody knows any more."""

    source = models.TextField()
    item_id = models.TextField()
    by = models.TextField()
    at = models.DateTimeField()

    class Meta:
        db_table = "review_presence"
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["source", "item_id", "by"], name="review_present_once"),
        )
        indexes = (models.Index(fields=["by", "at"], name="review_presence_by_person"),)

    def __str__(self) -> str:
        return f"{self.by} on {self.source} {self.item_id}"
