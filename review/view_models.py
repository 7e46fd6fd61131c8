"""Views of the queue that people keep: a name, and the words of an address.

What the words select is read by review.filters each time; nothing of what waits is copied here.
"""

from django.conf import settings
from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual


class SavedView(models.Model):
    """One view of one person, for them alone or shared with everybody."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.TextField()
    query = models.TextField()
    shared = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["owner", "name"], name="saved_views_by_name"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("name"), 40)
                & LessThanOrEqual(Length("query"), 2_000),
                name="saved_views_bounded",
            ),
        )
        indexes = (
            models.Index(
                fields=["name"], condition=models.Q(shared=True), name="saved_views_shared"
            ),
        )

    def __str__(self) -> str:
        return self.name
