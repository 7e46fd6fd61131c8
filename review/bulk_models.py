"""Sets of items that a person decides together: which items, as they were when they were chosen.

A set is frozen when it is made: its rows never grow, and each names the version of its item. What
a row came to is written once. No rule of the ledger lives here; review.bulk carries sets out.
"""

from typing import Final

from django.conf import settings
from django.db import models

PREVIEW, RUNNING, PAUSED, STOPPED, DONE = "preview", "running", "paused", "stopped", "done"

# What an item came to. Nothing yet is blank.
TAKEN: Final = "taken"  # the decision is carried out
PROPOSED: Final = "proposed"  # it waits for a second person
CHANGED: Final = "changed"  # the item moved after the set was frozen: left alone
REFUSED: Final = "refused"  # the ledger said no
FAILED: Final = "failed"  # something broke
EXCLUDED: Final = "excluded"  # this way out is not for it
BAD: Final = (REFUSED, FAILED)


class BulkSet(models.Model):
    """Some items of the queue, frozen, and what one person has done with them."""

    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    chosen = models.TextField()
    total = models.IntegerField()
    cut = models.BooleanField(default=False)
    checksum = models.TextField()
    state = models.TextField(default=PREVIEW)
    why = models.TextField(default="")
    choice = models.TextField(default="")
    reason = models.TextField(default="")
    # Whether the log-in that started it gave a second factor.
    verified = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # How many go first, whether somebody has looked at them, how many refusals stop it, and how
    # many go in the next pass.
    canary = models.IntegerField(default=0)
    canary_seen = models.BooleanField(default=False)
    budget = models.IntegerField(default=0)
    step = models.IntegerField(default=0)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(
                fields=["started_at"],
                condition=models.Q(state=RUNNING),
                name="bulk_sets_running",
            ),
        )

    def __str__(self) -> str:
        return f"set {self.pk}"


class BulkItem(models.Model):
    """One item of a set: what it was when it was chosen, and what it came to."""

    bulk_set = models.ForeignKey(BulkSet, models.CASCADE, related_name="items")
    position = models.IntegerField()
    source = models.TextField()
    item_id = models.TextField()
    kind = models.TextField()
    version = models.BigIntegerField()
    what = models.TextField()
    # By the word of a choice: why it is not for this item.
    bars = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    outcome = models.TextField(default="")
    answer = models.TextField(default="")
    said = models.TextField(default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["bulk_set", "position"], name="bulk_items_by_position"),
            models.UniqueConstraint(
                fields=["bulk_set", "source", "item_id"], name="bulk_items_once"
            ),
        )
        indexes = (
            models.Index(
                fields=["bulk_set", "position"],
                condition=models.Q(outcome=""),
                name="bulk_items_waiting",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.item_id} at {self.version}"
