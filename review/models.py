"""What belongs to the console itself: the rights of people, and the view of all that waits.

The ledger's tables are in ledger.models. Attention data (who looks at an item, snooze, comments)
gets its tables here.
"""

from django.db import models


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
            ("resolve", "Resolve an item: apply, keep, merge, landed, not landed, accept new"),
            ("resend", "Send an item again, or take the resend back"),
            ("abandon", "Give an item up"),
            ("look_again", "Ask a provider again"),
            ("approve", "Confirm or reject what another person proposed"),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.item_id}"
