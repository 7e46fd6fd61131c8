"""Guarded work: the record of every effect and the queue it is worked from."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ledger.models.base import GuardedModel, SafeJSONField, known

STATES = {"queued", "claimed", "sweeping", "review", "done", "dead", "abandoned"}
HELD = Q(state__in=["claimed", "sweeping"])


class Job(GuardedModel):
    """One piece of guarded work. Held by exactly one owner token while claimed or sweeping."""

    id = models.TextField(primary_key=True)
    idem_key = models.TextField()
    effect = models.TextField(db_default="(unknown)")
    effect_version = models.IntegerField(db_default=1)
    workflow = models.TextField(db_default="(sql)")
    workflow_version = models.TextField(null=True)
    provider = models.TextField()
    instance = models.TextField(db_default="default")
    state = models.TextField()
    payload = SafeJSONField(null=True)
    payload_hash = models.TextField(db_default="(none)")
    body_sha256 = models.BinaryField(null=True)
    event = SafeJSONField(null=True)
    provider_key = models.TextField()
    handle = models.TextField()
    provider_ref = models.TextField(null=True)
    serial_key = models.TextField(null=True)
    active_lane = models.TextField(null=True)
    run_after = models.DateTimeField(db_default=Now())
    ready_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(db_default=0)
    resends = models.IntegerField(db_default=0)
    owner_token = models.UUIDField(null=True)
    owner_kind = models.TextField(null=True)
    owner_name = models.TextField(null=True)
    held_natively = models.BooleanField(db_default=False)
    execution_id = models.TextField(null=True)
    claimed_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    lease_seconds = models.IntegerField(db_default=600)
    lease_expires_at = models.DateTimeField(null=True)
    marker_at = models.DateTimeField(null=True)
    first_marked_at = models.DateTimeField(null=True)
    send_no = models.IntegerField(db_default=0)
    receipt_at = models.DateTimeField(null=True)
    last_owner_token = models.UUIDField(null=True)
    last_close = SafeJSONField(null=True)
    sweeping_at = models.DateTimeField(null=True)
    settle_until = models.DateTimeField(null=True)
    look_again_at = models.DateTimeField(null=True)
    lookups = models.IntegerField(db_default=0)
    lookup_errors = models.IntegerField(db_default=0)
    inserted_or_matched = models.TextField(db_default="inserted")
    last_error = models.TextField(null=True)
    error_node = models.TextField(null=True)
    version = models.BigIntegerField(db_default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)
    waiting_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "jobs"
        constraints = [
            known("state", STATES, "jobs"),
            known("inserted_or_matched", {"inserted", "matched"}, "jobs"),
            models.UniqueConstraint(fields=["idem_key", "effect_version"], name="jobs_one_per_key"),
            models.UniqueConstraint(
                fields=["active_lane"],
                condition=Q(active_lane__isnull=False),
                name="jobs_one_active_per_lane",
            ),
            models.CheckConstraint(
                condition=(HELD & Q(owner_token__isnull=False, lease_expires_at__isnull=False))
                | (~HELD & Q(owner_token=None, lease_expires_at=None)),
                name="jobs_held_iff_token_and_lease",
            ),
            models.CheckConstraint(
                condition=~Q(state="sweeping") | Q(owner_kind="sweeper"),
                name="jobs_sweeping_by_sweeper",
            ),
            models.CheckConstraint(
                condition=Q(owner_kind=None) | Q(owner_kind__in=["sweeper", "worker"]),
                name="jobs_owner_kind_known",
            ),
            models.CheckConstraint(
                condition=(Q(active_lane=None) & (~HELD | Q(serial_key=None)))
                | (
                    HELD
                    & Q(serial_key__isnull=False, active_lane__isnull=False)
                    & Q(active_lane=F("serial_key"))
                ),
                name="jobs_lane_iff_held",
            ),
            models.CheckConstraint(
                condition=(Q(state="queued", ready_at__isnull=False, ready_at=F("run_after")))
                | (~Q(state="queued") & Q(ready_at=None)),
                name="jobs_ready_iff_queued",
            ),
            models.CheckConstraint(
                condition=Q(waiting_since=None) | Q(state="queued"),
                name="jobs_wait_only_when_queued",
            ),
            models.CheckConstraint(
                condition=Q(marker_at=None) | Q(first_marked_at__isnull=False),
                name="jobs_marker_has_first_mark",
            ),
            models.CheckConstraint(
                condition=Q(lease_seconds__gte=5, lease_seconds__lte=86400),
                name="jobs_lease_in_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["owner_token"],
                condition=Q(owner_token__isnull=False),
                name="jobs_owner_token",
            ),
            models.Index(
                fields=["ready_at", "created_at"],
                condition=Q(ready_at__isnull=False),
                name="jobs_ready",
            ),
            models.Index(
                fields=["lease_expires_at"],
                condition=Q(lease_expires_at__isnull=False),
                name="jobs_lease",
            ),
            models.Index(
                fields=["serial_key", "created_at"],
                condition=Q(serial_key__isnull=False, ready_at__isnull=False),
                name="jobs_lane_order",
            ),
            models.Index(
                fields=["serial_key", "created_at"],
                condition=Q(serial_key__isnull=False, state="done"),
                name="jobs_lane_done",
            ),
            models.Index(
                fields=["created_at"],
                condition=Q(state__in=["done", "abandoned"]),
                name="jobs_finished",
            ),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="jobs_waiting",
            ),
            models.Index(
                fields=["workflow", "waiting_since", "id"],
                condition=Q(waiting_since__isnull=False),
                name="jobs_waiting_by_workflow",
            ),
            GinIndex(
                OpClass("payload", "jsonb_path_ops"),
                condition=Q(state="review") | Q(waiting_since__isnull=False),
                name="jobs_asked_payload",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class Evidence(GuardedModel):
    """What somebody outside said about a job's effect: a receipt, a look-up, a person."""

    id = models.BigAutoField(primary_key=True)
    job_id = models.TextField()
    send_no = models.IntegerField(db_default=0)
    kind = models.TextField()
    source = models.TextField()
    provider_ref = models.TextField(null=True)
    body = SafeJSONField(null=True)
    observed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "evidence"
        verbose_name_plural = "evidence"
        constraints = [
            known(
                "kind",
                {
                    "lookup_found",
                    "lookup_absent",
                    "lookup_error",
                    "receipt",
                    "late_receipt",
                    "late_result",
                    "error_replayed",
                    "human_statement",
                    "relay_log",
                },
                "evidence",
            )
        ]
        indexes = [models.Index(fields=["job_id", "observed_at"], name="evidence_by_job")]

    def __str__(self) -> str:
        return f"{self.kind} from {self.source}"


class PayloadBody(GuardedModel):
    """The exact bytes of a payload, stored once per content."""

    sha256 = models.BinaryField(primary_key=True)
    body = models.BinaryField()
    parse_error = models.TextField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "payload_bodies"
        verbose_name_plural = "payload bodies"

    def __str__(self) -> str:
        return bytes(self.sha256).hex()
