"""What is serialised and what should be: the views of lanes and of hot records."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class Lane(models.Model):
    """One serial key with work in it; ``depth`` jobs wait behind the one that holds it."""

    serial_key = models.TextField(primary_key=True)
    depth = models.BigIntegerField()
    held_by = models.TextField(null=True)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "lanes"
        default_permissions = ()

    def __str__(self) -> str:
        return self.serial_key


class HotKey(models.Model):
    """One record that writers fought over again and again, and the lane that would keep order."""

    pk = models.CompositePrimaryKey("target", "record_key")
    target = models.TextField()
    record_key = models.TextField()
    conflicts = models.BigIntegerField()
    undecided = models.BigIntegerField()
    workflows = ArrayField(models.TextField())
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    lane = models.TextField()
    depth = models.BigIntegerField()
    held_by = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "hot_keys"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.target}/{self.record_key}"
