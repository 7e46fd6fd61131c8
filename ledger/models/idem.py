"""The only gate: one row per logical effect, live here and later in the archive."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length, Now
from django.db.models.lookups import LessThanOrEqual

from ledger.models.base import GuardedModel, SafeJSONField, known

LONGEST_KEY = 255
STATUSES = {"pending", "done", "review"}
OUTCOMES = {"success", "failed", "skipped", "abandoned"}


class IdemColumns(GuardedModel):
    """The columns a key has, live or archived."""

    idem_key = models.TextField(primary_key=True)
    effect = models.TextField(db_default="(unknown)")
    event_key = models.TextField(db_default="")
    effect_version = models.IntegerField(db_default=1)
    applied_version = models.IntegerField(null=True)
    carried_to_version = models.IntegerField(null=True)
    effect_kind = models.TextField(db_default="replace")
    status = models.TextField(db_default="pending")
    outcome = models.TextField(null=True)
    job_id = models.TextField(null=True)
    workflow = models.TextField(db_default="(sql)")
    payload_hash = models.TextField(db_default="(none)")
    result = SafeJSONField(null=True)
    result_ref = models.TextField(null=True)
    result_hash = models.TextField(null=True)
    input_hash = models.TextField(null=True)
    http_status = models.IntegerField(null=True)
    claimed_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)
    last_possible_retry_at = models.DateTimeField(db_default=Now())
    retain_until = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.idem_key


class Idem(IdemColumns):
    """An idempotency key that is still live. Its primary key is the only unique index."""

    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "idem"
        verbose_name = "idempotency key"
        constraints = [
            known("status", STATUSES, "idem"),
            models.CheckConstraint(
                condition=Q(outcome=None) | Q(outcome__in=sorted(OUTCOMES)),
                name="idem_outcome_known",
            ),
            models.CheckConstraint(
                # A bound within the pattern would cost more than all the rest of the insert.
                condition=Q(idem_key__regex=r"^[^[:cntrl:]]+$")
                & Q(LessThanOrEqual(Length("idem_key"), LONGEST_KEY)),
                name="idem_key_printable_up_to_255",
            ),
            models.CheckConstraint(
                condition=Q(status="done", done_at__isnull=False)
                | (~Q(status="done") & Q(done_at=None)),
                name="idem_done_iff_done_at",
            ),
            models.CheckConstraint(
                condition=~Q(status="done") | Q(outcome__isnull=False),
                name="idem_done_has_outcome",
            ),
            models.CheckConstraint(
                condition=Q(retain_until__gte=models.F("last_possible_retry_at")),
                name="idem_retained_past_last_retry",
            ),
        ]
        indexes = [
            models.Index(fields=["claimed_at"], condition=Q(status="pending"), name="idem_pending"),
            models.Index(fields=["retain_until"], condition=Q(status="done"), name="idem_overdue"),
            models.Index(
                fields=["done_at"], condition=Q(done_at__isnull=False), name="idem_done_at"
            ),
            models.Index(
                fields=["waiting_since", "idem_key"],
                condition=Q(waiting_since__isnull=False),
                name="idem_waiting",
            ),
            models.Index(
                fields=["workflow", "waiting_since", "idem_key"],
                condition=Q(waiting_since__isnull=False),
                name="idem_waiting_by_workflow",
            ),
        ]


class ArchivedIdem(IdemColumns):
    """An idempotency key past its retention, kept with its stored result for late replays."""

    archived_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "idem_archive"
        verbose_name = "archived key"
