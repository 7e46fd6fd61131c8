"""Create the plain tables, with their constraints and indexes."""

import datetime
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
import ledger.models.base
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AllowedTransition",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "machine",
                        "from_state",
                        "to_state",
                        "workflow",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("machine", models.TextField()),
                ("from_state", models.TextField()),
                ("to_state", models.TextField()),
                ("workflow", models.TextField(db_default="*")),
            ],
            options={
                "db_table": "allowed_transitions",
            },
        ),
        migrations.CreateModel(
            name="ArchivedIdem",
            fields=[
                ("idem_key", models.TextField(primary_key=True, serialize=False)),
                ("effect", models.TextField(db_default="(unknown)")),
                ("event_key", models.TextField(db_default="")),
                ("effect_version", models.IntegerField(db_default=1)),
                ("applied_version", models.IntegerField(null=True)),
                ("carried_to_version", models.IntegerField(null=True)),
                ("effect_kind", models.TextField(db_default="replace")),
                ("status", models.TextField(db_default="pending")),
                ("outcome", models.TextField(null=True)),
                ("job_id", models.TextField(null=True)),
                ("workflow", models.TextField(db_default="(sql)")),
                ("payload_hash", models.TextField(db_default="(none)")),
                ("result", ledger.models.base.SafeJSONField(null=True)),
                ("result_ref", models.TextField(null=True)),
                ("result_hash", models.TextField(null=True)),
                ("input_hash", models.TextField(null=True)),
                ("http_status", models.IntegerField(null=True)),
                (
                    "claimed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "last_possible_retry_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "retain_until",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "archived_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "verbose_name": "archived key",
                "db_table": "idem_archive",
            },
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("from_id", models.BigIntegerField()),
                ("to_id", models.BigIntegerField()),
                ("from_tx", models.BigIntegerField()),
                ("to_tx", models.BigIntegerField()),
                ("rows", models.BigIntegerField()),
                ("root_hash", models.BinaryField()),
                ("cluster", models.BigIntegerField(null=True)),
                ("floor_id", models.BigIntegerField(db_default=0)),
                ("closes", models.BooleanField(db_default=False)),
                ("prev_seal", models.BinaryField(null=True)),
                (
                    "sealed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "audit_seals",
            },
        ),
        migrations.CreateModel(
            name="Liveness",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                (
                    "last_success_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("interval_seconds", models.IntegerField()),
                ("jitter_seconds", models.IntegerField()),
                ("host", models.TextField(db_default="")),
                ("report", models.JSONField(null=True)),
            ],
            options={
                "verbose_name_plural": "liveness",
                "db_table": "liveness",
            },
        ),
        migrations.CreateModel(
            name="PayloadBody",
            fields=[
                ("sha256", models.BinaryField(primary_key=True, serialize=False)),
                ("body", models.BinaryField()),
                ("parse_error", models.TextField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "verbose_name_plural": "payload bodies",
                "db_table": "payload_bodies",
            },
        ),
        migrations.CreateModel(
            name="RecordHistory",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "target",
                        "record_key",
                        "revision",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("target", models.TextField()),
                ("record_key", models.TextField()),
                ("revision", models.BigIntegerField()),
                ("row_data", ledger.models.base.SafeJSONField()),
                (
                    "changed",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField()),
                ),
                ("by_workflow", models.TextField(null=True)),
                ("by_login", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name_plural": "record history",
                "db_table": "record_history",
            },
        ),
        migrations.CreateModel(
            name="SweepLock",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("holder", models.TextField(null=True)),
                ("token", models.UUIDField(null=True)),
                ("fence", models.BigIntegerField(db_default=0)),
                ("acquired_at", models.DateTimeField(null=True)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("last_finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "sweep_locks",
            },
        ),
        migrations.CreateModel(
            name="Workflow",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("n8n_workflow_id", models.TextField(null=True, unique=True)),
                ("active_version", models.TextField(db_default="1")),
                ("export_sha256", models.TextField(null=True)),
                ("exported_at", models.DateTimeField(null=True)),
                ("db_role", models.TextField(null=True, unique=True)),
                ("read_dsn_alias", models.TextField(null=True)),
                ("max_runtime_seconds", models.IntegerField(null=True)),
                ("decision_webhook", models.TextField(null=True)),
                ("editor_url", models.TextField(null=True)),
                ("sends_dominated", models.BooleanField(db_default=False)),
                ("enabled", models.BooleanField(db_default=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "workflows",
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workflow", models.TextField(null=True)),
                ("user_name", models.TextField(null=True)),
                ("sha256", models.BinaryField(unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), db_default=[]
                    ),
                ),
                ("note", models.TextField(db_default="")),
                ("created_by", models.TextField(db_default="")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "api_keys",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("user_name__isnull", False), ("workflow", None)),
                            models.Q(("user_name", None), ("workflow__isnull", False)),
                            _connector="OR",
                        ),
                        name="api_keys_workflow_or_person",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("tx", models.BigIntegerField()),
                ("actor_kind", models.TextField()),
                ("actor", models.TextField()),
                ("op", models.TextField()),
                ("outcome", models.TextField()),
                ("key", models.TextField()),
                ("expected_hash", models.TextField()),
                ("actual_hash", models.TextField()),
                ("row_count", models.IntegerField()),
                ("target", models.TextField(null=True)),
                ("record_key", models.TextField(null=True)),
                ("job_id", models.TextField(null=True)),
                ("conflict_id", models.BigIntegerField(null=True)),
                ("workflow", models.TextField(null=True)),
                ("workflow_version", models.TextField(null=True)),
                ("execution_id", models.TextField(null=True)),
                ("attempt", models.IntegerField(null=True)),
                ("after_retry", models.BooleanField(db_default=False)),
                ("lock_wait_ms", models.FloatField()),
                ("duration_ms", models.FloatField()),
                ("before", ledger.models.base.SafeJSONField(null=True)),
                ("after", ledger.models.base.SafeJSONField(null=True)),
                ("reason", models.TextField(null=True)),
                ("row_hash", models.BinaryField()),
            ],
            options={
                "db_table": "audit_events",
                "indexes": [
                    models.Index(fields=["key", "at"], name="audit_events_by_key"),
                    models.Index(
                        condition=models.Q(("after_retry", True)),
                        fields=["op", "outcome", "at"],
                        name="audit_events_retried",
                    ),
                    models.Index(
                        condition=models.Q(("conflict_id__isnull", False)),
                        fields=["conflict_id"],
                        name="audit_events_by_conflict",
                    ),
                    models.Index(
                        condition=models.Q(("job_id__isnull", False)),
                        fields=["job_id"],
                        name="audit_events_by_job",
                    ),
                    models.Index(
                        condition=models.Q(("record_key__isnull", False)),
                        fields=["target", "record_key", "at"],
                        name="audit_events_by_record",
                    ),
                    models.Index(
                        condition=models.Q(("actor_kind", "human")),
                        fields=["actor", "at"],
                        name="audit_events_by_person",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "actor_kind__in",
                                ["command", "human", "reconciler", "sweeper", "system", "workflow"],
                            )
                        ),
                        name="audit_events_actor_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("key", ""), _negated=True),
                            models.Q(("expected_hash", ""), _negated=True),
                            models.Q(("actual_hash", ""), _negated=True),
                        ),
                        name="audit_events_facts_not_blank",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BatchRun",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workflow_name", models.TextField()),
                ("last_cursor", models.TextField(null=True)),
                ("items_processed", models.BigIntegerField(db_default=0)),
                ("chunk_no", models.IntegerField(db_default=0)),
                ("status", models.TextField(db_default="running")),
                ("owner_token", models.UUIDField(null=True)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("completed_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(null=True)),
                ("acked_by", models.TextField(null=True)),
                ("acked_at", models.DateTimeField(null=True)),
                ("guarded", models.BooleanField(db_default=False)),
                ("lock_version", models.BigIntegerField(db_default=1)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "batch_runs",
                "indexes": [
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="batch_runs_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow_name", "waiting_since", "id"],
                        name="batch_runs_waiting_by_workflow",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["complete", "failed", "running"])),
                        name="batch_runs_status_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("guarded", True), ("status", "running")),
                        fields=("workflow_name",),
                        name="batch_runs_one_running_per_workflow",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("waiting_since", None),
                            ("status__in", ["running", "failed"]),
                            _connector="OR",
                        ),
                        name="batch_runs_wait_only_when_unfinished",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Conflict",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.TextField()),
                ("state", models.TextField(db_default="open")),
                ("target", models.TextField(null=True)),
                ("record_key", models.TextField(null=True)),
                ("job_id", models.TextField(null=True)),
                ("idem_key", models.TextField(null=True)),
                ("effect", models.TextField(null=True)),
                ("effect_version", models.IntegerField(null=True)),
                ("workflow", models.TextField()),
                ("workflow_version", models.TextField(null=True)),
                ("execution_id", models.TextField(null=True)),
                ("instance", models.TextField(db_default="default")),
                ("attempted", ledger.models.base.SafeJSONField()),
                ("base_snapshot", ledger.models.base.SafeJSONField(null=True)),
                ("current_snapshot", ledger.models.base.SafeJSONField(null=True)),
                ("version_read", models.TextField(null=True)),
                ("version_found", models.TextField(null=True)),
                ("expected_hash", models.TextField()),
                ("actual_hash", models.TextField()),
                ("row_count", models.IntegerField(db_default=0)),
                ("attempt", models.IntegerField(db_default=1)),
                ("event", ledger.models.base.SafeJSONField(null=True)),
                ("sensitive", models.BooleanField(db_default=False)),
                ("external", models.BooleanField(db_default=False)),
                ("dedupe_key", models.TextField()),
                ("lock_version", models.BigIntegerField(db_default=1)),
                ("proposed", ledger.models.base.SafeJSONField(null=True)),
                ("proposed_by", models.TextField(null=True)),
                ("proposed_at", models.DateTimeField(null=True)),
                ("second_approver", models.TextField(null=True)),
                ("decision", models.TextField(null=True)),
                ("resolution", ledger.models.base.SafeJSONField(null=True)),
                ("resulting_revision", models.TextField(null=True)),
                ("resolved_by", models.TextField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(null=True)),
                ("detail", ledger.models.base.SafeJSONField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "conflicts",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "detected")),
                        fields=["created_at"],
                        name="conflicts_detected",
                    ),
                    models.Index(
                        fields=["target", "record_key", "created_at"], name="conflicts_by_record"
                    ),
                    models.Index(fields=["idem_key", "created_at"], name="conflicts_by_key"),
                    models.Index(
                        condition=models.Q(("job_id__isnull", False)),
                        fields=["job_id"],
                        name="conflicts_by_job",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="conflicts_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow", "waiting_since", "id"],
                        name="conflicts_waiting_by_workflow",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["kind", "waiting_since", "id"],
                        name="conflicts_waiting_by_kind",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("record_key__isnull", False), ("waiting_since__isnull", False)
                        ),
                        fields=["record_key"],
                        name="conflicts_waiting_by_record",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("execution_id__isnull", False), ("waiting_since__isnull", False)
                        ),
                        fields=["execution_id"],
                        name="conflicts_waiting_by_execution",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass("attempted", "jsonb_path_ops"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="conflicts_waiting_attempted",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass("event", "jsonb_path_ops"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="conflicts_waiting_event",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "bad_transition",
                                    "lost_claim",
                                    "lost_record",
                                    "missing_key",
                                    "not_owner_of_field",
                                    "payload_mismatch",
                                    "result_mismatch",
                                    "rule_failed",
                                    "stale_version",
                                    "unknown_send",
                                ],
                            )
                        ),
                        name="conflicts_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "abandoned",
                                    "applied",
                                    "auto_resolved",
                                    "confirmed",
                                    "detected",
                                    "folded",
                                    "kept",
                                    "merged",
                                    "open",
                                    "resent",
                                ],
                            )
                        ),
                        name="conflicts_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["detected", "open"]), ("external", True), _connector="OR"
                        ),
                        fields=("dedupe_key",),
                        name="conflicts_one_per_loss",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resolved_at", None), ("state__in", ["detected", "open"])),
                            models.Q(
                                models.Q(("state__in", ["detected", "open"]), _negated=True),
                                ("resolved_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="conflicts_resolved_iff_decided",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "stale_version"), _negated=True),
                            models.Q(
                                ("record_key__isnull", False),
                                ("target__isnull", False),
                                ("version_read__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="conflicts_stale_names_record_and_version",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("second_approver", None),
                            models.Q(("second_approver", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="conflicts_second_person_differs",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "open"), ("waiting_since__isnull", False)),
                            models.Q(
                                models.Q(("state", "open"), _negated=True), ("waiting_since", None)
                            ),
                            _connector="OR",
                        ),
                        name="conflicts_wait_iff_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("job_id", models.TextField()),
                ("send_no", models.IntegerField(db_default=0)),
                ("kind", models.TextField()),
                ("source", models.TextField()),
                ("provider_ref", models.TextField(null=True)),
                ("body", ledger.models.base.SafeJSONField(null=True)),
                (
                    "observed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "verbose_name_plural": "evidence",
                "db_table": "evidence",
                "indexes": [models.Index(fields=["job_id", "observed_at"], name="evidence_by_job")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "error_replayed",
                                    "human_statement",
                                    "late_receipt",
                                    "late_result",
                                    "lookup_absent",
                                    "lookup_error",
                                    "lookup_found",
                                    "receipt",
                                    "relay_log",
                                ],
                            )
                        ),
                        name="evidence_kind_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FailedJob",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workflow_name", models.TextField()),
                ("item_key", models.TextField(null=True)),
                ("job_id", models.TextField(null=True)),
                ("effect", models.TextField(null=True)),
                ("event", ledger.models.base.SafeJSONField(null=True)),
                (
                    "idem_keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), null=True, size=None
                    ),
                ),
                ("payload", ledger.models.base.SafeJSONField(null=True)),
                ("payload_size", models.BigIntegerField(null=True)),
                ("payload_sha256", models.BinaryField(null=True)),
                ("payload_truncated", models.BooleanField(db_default=False)),
                ("payload_ref", models.TextField(null=True)),
                ("error_message", models.TextField(null=True)),
                ("error_node", models.TextField(null=True)),
                ("retry_count", models.IntegerField(db_default=0)),
                (
                    "failed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("state", models.TextField(db_default="open")),
                ("next_retry_at", models.DateTimeField(null=True)),
                ("last_retry_at", models.DateTimeField(null=True)),
                ("pages_sent", models.IntegerField(db_default=0)),
                ("acked_by", models.TextField(null=True)),
                ("acked_at", models.DateTimeField(null=True)),
                ("resolved_by", models.TextField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(null=True)),
                ("proposed", ledger.models.base.SafeJSONField(null=True)),
                ("proposed_by", models.TextField(null=True)),
                ("proposed_at", models.DateTimeField(null=True)),
                ("lock_version", models.BigIntegerField(db_default=1)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "failed_jobs",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "open")),
                        fields=["workflow_name", "retry_count"],
                        name="failed_jobs_open",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        condition=models.Q(("state__in", ["open", "retrying", "exhausted"])),
                        fields=["idem_keys"],
                        name="failed_jobs_living_by_key",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["open", "exhausted"])),
                        fields=["failed_at"],
                        name="failed_jobs_unseen",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="failed_jobs_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow_name", "waiting_since", "id"],
                        name="failed_jobs_waiting_by_flow",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass("payload", "jsonb_path_ops"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="failed_jobs_waiting_payload",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["abandoned", "exhausted", "open", "resolved", "retrying"],
                            )
                        ),
                        name="failed_jobs_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["open", "retrying", "exhausted"])),
                        fields=("job_id",),
                        name="failed_jobs_one_living_per_job",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("waiting_since", None),
                            ("state__in", ["open", "exhausted"]),
                            _connector="OR",
                        ),
                        name="failed_jobs_wait_only_when_stopped",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("proposed__isnull", True),
                                ("proposed_at", None),
                                ("proposed_by", None),
                            ),
                            models.Q(
                                ("proposed__isnull", False),
                                ("proposed_at__isnull", False),
                                ("proposed_by__isnull", False),
                                ("state__in", ["open", "exhausted"]),
                            ),
                            _connector="OR",
                        ),
                        name="failed_jobs_proposal_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FieldOwnership",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "target",
                        "field",
                        "workflow",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("target", models.TextField()),
                ("field", models.TextField()),
                ("workflow", models.TextField()),
                ("exclusive", models.BooleanField(db_default=True)),
                ("sensitive", models.BooleanField(db_default=False)),
            ],
            options={
                "db_table": "field_ownership",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("exclusive", True)),
                        fields=("target", "field"),
                        name="field_ownership_one_exclusive_owner",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Idem",
            fields=[
                ("idem_key", models.TextField(primary_key=True, serialize=False)),
                ("effect", models.TextField(db_default="(unknown)")),
                ("event_key", models.TextField(db_default="")),
                ("effect_version", models.IntegerField(db_default=1)),
                ("applied_version", models.IntegerField(null=True)),
                ("carried_to_version", models.IntegerField(null=True)),
                ("effect_kind", models.TextField(db_default="replace")),
                ("status", models.TextField(db_default="pending")),
                ("outcome", models.TextField(null=True)),
                ("job_id", models.TextField(null=True)),
                ("workflow", models.TextField(db_default="(sql)")),
                ("payload_hash", models.TextField(db_default="(none)")),
                ("result", ledger.models.base.SafeJSONField(null=True)),
                ("result_ref", models.TextField(null=True)),
                ("result_hash", models.TextField(null=True)),
                ("input_hash", models.TextField(null=True)),
                ("http_status", models.IntegerField(null=True)),
                (
                    "claimed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "last_possible_retry_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "retain_until",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "idempotency key",
                "db_table": "idem",
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["claimed_at"],
                        name="idem_pending",
                    ),
                    models.Index(
                        condition=models.Q(("status", "done")),
                        fields=["retain_until"],
                        name="idem_overdue",
                    ),
                    models.Index(
                        condition=models.Q(("done_at__isnull", False)),
                        fields=["done_at"],
                        name="idem_done_at",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "idem_key"],
                        name="idem_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow", "waiting_since", "idem_key"],
                        name="idem_waiting_by_workflow",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["done", "pending", "review"])),
                        name="idem_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outcome", None),
                            ("outcome__in", ["abandoned", "failed", "skipped", "success"]),
                            _connector="OR",
                        ),
                        name="idem_outcome_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("idem_key__regex", "^[^[:cntrl:]]+$"),
                            django.db.models.lookups.LessThanOrEqual(
                                django.db.models.functions.text.Length("idem_key"), 255
                            ),
                        ),
                        name="idem_key_printable_up_to_255",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("done_at__isnull", False), ("status", "done")),
                            models.Q(
                                models.Q(("status", "done"), _negated=True), ("done_at", None)
                            ),
                            _connector="OR",
                        ),
                        name="idem_done_iff_done_at",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "done"), _negated=True),
                            ("outcome__isnull", False),
                            _connector="OR",
                        ),
                        name="idem_done_has_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("retain_until__gte", models.F("last_possible_retry_at"))
                        ),
                        name="idem_retained_past_last_retry",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.TextField(primary_key=True, serialize=False)),
                ("idem_key", models.TextField()),
                ("effect", models.TextField(db_default="(unknown)")),
                ("effect_version", models.IntegerField(db_default=1)),
                ("workflow", models.TextField(db_default="(sql)")),
                ("workflow_version", models.TextField(null=True)),
                ("provider", models.TextField()),
                ("instance", models.TextField(db_default="default")),
                ("state", models.TextField()),
                ("payload", ledger.models.base.SafeJSONField(null=True)),
                ("payload_hash", models.TextField(db_default="(none)")),
                ("body_sha256", models.BinaryField(null=True)),
                ("event", ledger.models.base.SafeJSONField(null=True)),
                ("provider_key", models.TextField()),
                ("handle", models.TextField()),
                ("provider_ref", models.TextField(null=True)),
                ("serial_key", models.TextField(null=True)),
                ("active_lane", models.TextField(null=True)),
                (
                    "run_after",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("ready_at", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(db_default=0)),
                ("resends", models.IntegerField(db_default=0)),
                ("owner_token", models.UUIDField(null=True)),
                ("owner_kind", models.TextField(null=True)),
                ("owner_name", models.TextField(null=True)),
                ("held_natively", models.BooleanField(db_default=False)),
                ("execution_id", models.TextField(null=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("lease_seconds", models.IntegerField(db_default=600)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("marker_at", models.DateTimeField(null=True)),
                ("first_marked_at", models.DateTimeField(null=True)),
                ("send_no", models.IntegerField(db_default=0)),
                ("receipt_at", models.DateTimeField(null=True)),
                ("last_owner_token", models.UUIDField(null=True)),
                ("last_close", ledger.models.base.SafeJSONField(null=True)),
                ("sweeping_at", models.DateTimeField(null=True)),
                ("settle_until", models.DateTimeField(null=True)),
                ("look_again_at", models.DateTimeField(null=True)),
                ("lookups", models.IntegerField(db_default=0)),
                ("lookup_errors", models.IntegerField(db_default=0)),
                ("inserted_or_matched", models.TextField(db_default="inserted")),
                ("last_error", models.TextField(null=True)),
                ("error_node", models.TextField(null=True)),
                ("version", models.BigIntegerField(db_default=1)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("done_at", models.DateTimeField(null=True)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "jobs",
                "indexes": [
                    models.Index(
                        condition=models.Q(("owner_token__isnull", False)),
                        fields=["owner_token"],
                        name="jobs_owner_token",
                    ),
                    models.Index(
                        condition=models.Q(("ready_at__isnull", False)),
                        fields=["ready_at", "created_at"],
                        name="jobs_ready",
                    ),
                    models.Index(
                        condition=models.Q(("lease_expires_at__isnull", False)),
                        fields=["lease_expires_at"],
                        name="jobs_lease",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("ready_at__isnull", False), ("serial_key__isnull", False)
                        ),
                        fields=["serial_key", "created_at"],
                        name="jobs_lane_order",
                    ),
                    models.Index(
                        condition=models.Q(("serial_key__isnull", False), ("state", "done")),
                        fields=["serial_key", "created_at"],
                        name="jobs_lane_done",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["done", "abandoned"])),
                        fields=["created_at"],
                        name="jobs_finished",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="jobs_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow", "waiting_since", "id"],
                        name="jobs_waiting_by_workflow",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass("payload", "jsonb_path_ops"),
                        condition=models.Q(
                            ("state", "review"), ("waiting_since__isnull", False), _connector="OR"
                        ),
                        name="jobs_asked_payload",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "abandoned",
                                    "claimed",
                                    "dead",
                                    "done",
                                    "queued",
                                    "review",
                                    "sweeping",
                                ],
                            )
                        ),
                        name="jobs_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("inserted_or_matched__in", ["inserted", "matched"])),
                        name="jobs_inserted_or_matched_known",
                    ),
                    models.UniqueConstraint(
                        fields=("idem_key", "effect_version"), name="jobs_one_per_key"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("active_lane__isnull", False)),
                        fields=("active_lane",),
                        name="jobs_one_active_per_lane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["claimed", "sweeping"]),
                                ("lease_expires_at__isnull", False),
                                ("owner_token__isnull", False),
                            ),
                            models.Q(
                                models.Q(("state__in", ["claimed", "sweeping"]), _negated=True),
                                ("lease_expires_at", None),
                                ("owner_token", None),
                            ),
                            _connector="OR",
                        ),
                        name="jobs_held_iff_token_and_lease",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "sweeping"), _negated=True),
                            ("owner_kind", "sweeper"),
                            _connector="OR",
                        ),
                        name="jobs_sweeping_by_sweeper",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("owner_kind", None),
                            ("owner_kind__in", ["sweeper", "worker"]),
                            _connector="OR",
                        ),
                        name="jobs_owner_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("active_lane", None),
                                models.Q(
                                    models.Q(("state__in", ["claimed", "sweeping"]), _negated=True),
                                    ("serial_key", None),
                                    _connector="OR",
                                ),
                            ),
                            models.Q(
                                ("state__in", ["claimed", "sweeping"]),
                                ("active_lane__isnull", False),
                                ("serial_key__isnull", False),
                                ("active_lane", models.F("serial_key")),
                            ),
                            _connector="OR",
                        ),
                        name="jobs_lane_iff_held",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ready_at", models.F("run_after")),
                                ("ready_at__isnull", False),
                                ("state", "queued"),
                            ),
                            models.Q(
                                models.Q(("state", "queued"), _negated=True), ("ready_at", None)
                            ),
                            _connector="OR",
                        ),
                        name="jobs_ready_iff_queued",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("waiting_since", None), ("state", "queued"), _connector="OR"
                        ),
                        name="jobs_wait_only_when_queued",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("marker_at", None), ("first_marked_at__isnull", False), _connector="OR"
                        ),
                        name="jobs_marker_has_first_mark",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lease_seconds__gte", 5), ("lease_seconds__lte", 86400)
                        ),
                        name="jobs_lease_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KeySpec",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "effect",
                        "version",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("effect", models.TextField()),
                ("version", models.IntegerField()),
                ("mode", models.TextField(db_default="event_id")),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField()),
                ),
                ("canon", django.contrib.postgres.fields.ArrayField(base_field=models.TextField())),
                ("retired_at", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "key_specs",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", ["event_id", "hash_fields"])),
                        name="key_specs_mode_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("canon__len", models.F("fields__len")), ("fields__len__gte", 1)
                        ),
                        name="key_specs_one_canon_per_field",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboxMessage",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("topic", models.TextField()),
                ("subject", models.TextField()),
                ("key", models.TextField()),
                ("workflow", models.TextField(null=True)),
                ("payload", ledger.models.base.SafeJSONField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("published_at", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(db_default=0)),
                (
                    "next_attempt_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("last_error", models.TextField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("dropped_at", models.DateTimeField(null=True)),
                ("lock_version", models.BigIntegerField(db_default=1)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "outbox message",
                "db_table": "outbox",
                "indexes": [
                    models.Index(
                        condition=models.Q(("published_at__isnull", True)),
                        fields=["created_at"],
                        name="outbox_unpublished",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="outbox_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow", "waiting_since", "id"],
                        name="outbox_waiting_by_workflow",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("topic", "key"), name="outbox_one_per_event"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("waiting_since", None),
                            models.Q(
                                ("dropped_at", None),
                                ("given_up_at__isnull", False),
                                ("published_at", None),
                            ),
                            _connector="OR",
                        ),
                        name="outbox_waits_only_when_given_up",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Policy",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("value", ledger.models.base.SafeJSONField()),
                ("unit", models.TextField(db_default="")),
                ("source", models.TextField(db_default="guess")),
                ("note", models.TextField(db_default="")),
                ("set_by", models.TextField(db_default="(shipped)")),
                (
                    "set_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("rechecked_at", models.DateTimeField(null=True)),
                ("version", models.BigIntegerField(db_default=1)),
            ],
            options={
                "verbose_name_plural": "policies",
                "db_table": "policies",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["guess", "operator", "seed"])),
                        name="policies_source_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Provider",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("class_field", models.TextField(db_column="class", verbose_name="class")),
                ("lookup_adapter", models.TextField(null=True)),
                ("lookup_config", ledger.models.base.SafeJSONField(db_default={})),
                ("lease_seconds", models.IntegerField(db_default=600)),
                ("heartbeat_seconds", models.IntegerField(null=True)),
                ("settle_seconds", models.IntegerField(db_default=900)),
                ("unmarked_action", models.TextField(db_default="review")),
                ("max_attempts", models.IntegerField(db_default=3)),
                ("max_lookup_errors", models.IntegerField(db_default=10)),
                ("retry_horizon", models.DurationField(db_default=datetime.timedelta(days=3))),
                ("replay_horizon", models.DurationField(db_default=datetime.timedelta(days=30))),
                ("retention_margin", models.DurationField(db_default=datetime.timedelta(days=1))),
                ("archive_expiry", models.DurationField(null=True)),
                ("archive_signed_by", models.TextField(null=True)),
                ("archive_signed_at", models.DateTimeField(null=True)),
                ("key_ttl_seconds", models.BigIntegerField(null=True)),
                ("key_unlimited", models.BooleanField(db_default=False)),
                ("caches_errors", models.BooleanField(db_default=False)),
                ("mismatch", models.TextField(db_default="error")),
                ("lookup_by_reference", models.BooleanField(db_default=False)),
                ("profile", ledger.models.base.SafeJSONField(db_default={})),
                ("auto_registered", models.BooleanField(db_default=False)),
                ("version", models.BigIntegerField(db_default=1)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "providers",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "class_field__in",
                                ["advisory_blind", "advisory_handle", "forced_unique"],
                            )
                        ),
                        name="providers_class_field_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("unmarked_action__in", ["requeue", "review"])),
                        name="providers_unmarked_action_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("mismatch__in", ["error", "ignored"])),
                        name="providers_mismatch_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lease_seconds__gte", 5), ("lease_seconds__lte", 86400)
                        ),
                        name="providers_lease_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("heartbeat_seconds", None),
                            models.Q(
                                ("heartbeat_seconds__gt", 0),
                                (
                                    "lease_seconds__gte",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("heartbeat_seconds"), "*", models.Value(4)
                                    ),
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="providers_heartbeat_fits_lease_four_times",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("class_field", "forced_unique"), _negated=True),
                            models.Q(
                                ("key_ttl_seconds__gt", 0), ("key_ttl_seconds__isnull", False)
                            ),
                            ("key_unlimited", True),
                            _connector="OR",
                        ),
                        name="providers_forced_unique_has_key_lifetime",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("class_field", "advisory_handle"), _negated=True),
                            ("lookup_adapter__isnull", False),
                            _connector="OR",
                        ),
                        name="providers_handle_has_lookup",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("archive_expiry", None),
                                ("archive_signed_at", None),
                                ("archive_signed_by", None),
                            ),
                            models.Q(
                                (
                                    "archive_expiry__gte",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("replay_horizon"),
                                        "+",
                                        models.F("retention_margin"),
                                    ),
                                ),
                                ("archive_signed_at__isnull", False),
                                ("archive_signed_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="providers_expiry_signed_and_past_horizon",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("max_attempts__gte", 1),
                            ("max_lookup_errors__gte", 1),
                            ("settle_seconds__gte", 0),
                        ),
                        name="providers_counts_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("target", models.TextField()),
                ("name", models.TextField()),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField()),
                ),
                ("fn", models.TextField(unique=True)),
                ("reads", django.contrib.postgres.fields.ArrayField(base_field=models.TextField())),
                ("source", models.TextField()),
                ("source_sha256", models.TextField()),
                (
                    "registered_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("registered_by", models.TextField()),
            ],
            options={
                "db_table": "rules",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("target", "name"), name="rules_one_name_per_target"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workflow", models.TextField()),
                ("job_id", models.TextField(null=True)),
                ("instance", models.TextField(db_default="default")),
                ("external_execution_id", models.TextField(null=True)),
                ("status", models.TextField(db_default="running")),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("deadline_at", models.DateTimeField(null=True)),
                ("engine_status", models.TextField(null=True)),
                ("engine_stopped_at", models.DateTimeField(null=True)),
                ("terminal_first_seen_at", models.DateTimeField(null=True)),
                ("last_checked_at", models.DateTimeField(null=True)),
                ("engine_unknown_since", models.DateTimeField(null=True)),
                ("stop_requested_at", models.DateTimeField(null=True)),
                ("stop_requested_by", models.TextField(null=True)),
                ("stops_asked", models.IntegerField(db_default=0)),
                ("stop_result", models.TextField(null=True)),
                ("needs_operator", models.BooleanField(db_default=False)),
                ("flag_muted_until", models.DateTimeField(null=True)),
                ("operator_note", models.TextField(null=True)),
                ("result", ledger.models.base.SafeJSONField(null=True)),
                ("late_result", ledger.models.base.SafeJSONField(null=True)),
                ("error", models.TextField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", models.TextField(null=True)),
                ("engine_confirmed_at", models.DateTimeField(null=True)),
                ("lock_version", models.BigIntegerField(db_default=1)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "runs",
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "running")),
                        fields=["last_checked_at"],
                        name="runs_running",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("ended_at__isnull", False), ("engine_confirmed_at", None)
                        ),
                        fields=["ended_at"],
                        name="runs_unconfirmed",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["waiting_since", "id"],
                        name="runs_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("waiting_since__isnull", False)),
                        fields=["workflow", "waiting_since", "id"],
                        name="runs_waiting_by_workflow",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["cancelled", "completed", "failed", "failed_transient", "running"],
                            )
                        ),
                        name="runs_status_known",
                    ),
                    models.UniqueConstraint(
                        fields=("instance", "external_execution_id"), name="runs_one_per_execution"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed_transient"), _negated=True),
                            models.Q(
                                ("engine_status__in", ["success", "error", "crashed", "canceled"]),
                                ("engine_stopped_at__isnull", False),
                                ("external_execution_id__isnull", False),
                                ("terminal_first_seen_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="runs_transient_only_when_engine_ended",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "completed"), _negated=True),
                            ("result__isnull", False),
                            _connector="OR",
                        ),
                        name="runs_completed_has_result",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("status", "running")),
                            models.Q(
                                models.Q(("status", "running"), _negated=True),
                                ("ended_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="runs_ended_iff_not_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("waiting_since", None),
                            models.Q(("needs_operator", True), ("status", "running")),
                            _connector="OR",
                        ),
                        name="runs_wait_only_when_flagged",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Target",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("table", models.TextField(null=True)),
                ("pk_column", models.TextField(db_default="id")),
                ("revision_column", models.TextField(db_default="revision")),
                ("status_column", models.TextField(null=True)),
                ("external", models.BooleanField(db_default=False)),
                ("client_of", models.TextField(null=True)),
                ("client_id", models.TextField(null=True)),
            ],
            options={
                "db_table": "targets",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("client_of", "client_id"), name="targets_one_per_client"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("external", True), ("table__isnull", False), _connector="OR"
                        ),
                        name="targets_table_unless_external",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Effect",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("kind", models.TextField(db_default="replace")),
                ("current_version", models.IntegerField(db_default=1)),
                ("key_spec_version", models.IntegerField(db_default=1)),
                ("delivery", models.TextField(db_default="workflow_queue")),
                ("wake_url", models.TextField(null=True)),
                ("amount_path", models.TextField(null=True)),
                ("title", models.TextField(null=True)),
                ("version", models.BigIntegerField(db_default=1)),
                (
                    "provider",
                    models.ForeignKey(
                        db_column="provider",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.provider",
                    ),
                ),
                (
                    "workflow",
                    models.ForeignKey(
                        db_column="workflow",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.workflow",
                    ),
                ),
            ],
            options={
                "db_table": "effects",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["add", "replace"])),
                        name="effects_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("delivery__in", ["native", "wake_webhook", "workflow_queue"])
                        ),
                        name="effects_delivery_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("check_name", models.TextField(db_column="check")),
                ("dedupe_key", models.TextField()),
                ("severity", models.TextField()),
                ("state", models.TextField(db_default="firing")),
                ("value", models.FloatField(null=True)),
                ("threshold", models.FloatField(null=True)),
                (
                    "first_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "last_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("pages_sent", models.IntegerField(db_default=0)),
                ("acked_by", models.TextField(null=True)),
                ("acked_at", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("version", models.BigIntegerField(db_default=1)),
            ],
            options={
                "db_table": "alerts",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("severity__in", ["page", "warn"])),
                        name="alerts_severity_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["acked", "firing", "resolved"])),
                        name="alerts_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=("check_name", "dedupe_key"),
                        name="alerts_one_living_per_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("acked_at", None), ("acked_by", None)),
                            models.Q(("acked_at__isnull", False), ("acked_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="alerts_acked_by_and_at",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "acked"), _negated=True),
                            ("acked_at__isnull", False),
                            _connector="OR",
                        ),
                        name="alerts_acked_has_who",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resolved_at__isnull", False), ("state", "resolved")),
                            models.Q(
                                models.Q(("state", "resolved"), _negated=True),
                                ("resolved_at", None),
                            ),
                            _connector="OR",
                        ),
                        name="alerts_resolved_iff_over",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Baseline",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workflow",
                        "workflow_version",
                        "op",
                        "metric",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workflow", models.TextField()),
                ("workflow_version", models.TextField()),
                ("op", models.TextField()),
                ("metric", models.TextField()),
                ("anchor", models.FloatField()),
                ("tolerance", models.FloatField()),
                (
                    "set_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("set_by", models.TextField()),
                ("rechecked_at", models.DateTimeField(null=True)),
                ("rechecked_by", models.TextField(null=True)),
                ("samples", models.IntegerField(db_default=0)),
                ("seeded_from", models.TextField(null=True)),
                ("seed_check", ledger.models.base.SafeJSONField(null=True)),
                ("carried_from_version", models.TextField(null=True)),
                ("widen_factor", models.FloatField(null=True)),
                ("widen_until", models.DateTimeField(null=True)),
                ("cap", models.FloatField(null=True)),
                ("version", models.BigIntegerField(db_default=1)),
            ],
            options={
                "db_table": "baselines",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("anchor__gte", 0), ("samples__gte", 0), ("tolerance__gte", 1)
                        ),
                        name="baselines_numbers_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("rechecked_at", None), ("rechecked_by", None)),
                            models.Q(
                                ("rechecked_at__isnull", False), ("rechecked_by__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="baselines_rechecked_by_and_at",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("seeded_from", None), ("seed_check__isnull", False), _connector="OR"
                        ),
                        name="baselines_seed_was_checked",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("widen_factor", None), ("widen_until", None)),
                            models.Q(("widen_factor__gte", 1), ("widen_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="baselines_wider_until",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("carried_from_version", None),
                            models.Q(
                                ("widen_until__isnull", False),
                                models.Q(
                                    ("carried_from_version", models.F("workflow_version")),
                                    _negated=True,
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="baselines_carried_is_wider",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("query_name", models.TextField()),
                ("interval_seconds", models.IntegerField()),
                ("jitter_seconds", models.IntegerField()),
                ("warn_policy", models.TextField(null=True)),
                ("page_policy", models.TextField(null=True)),
                ("read_dsn_alias", models.TextField(null=True)),
                ("floor_query", models.TextField(null=True)),
                ("floor_n", models.IntegerField(null=True)),
                ("enabled", models.BooleanField(db_default=True)),
            ],
            options={
                "db_table": "checks",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("interval_seconds__gt", 0), ("jitter_seconds__gte", 0)),
                        name="checks_interval_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("floor_n", None), ("floor_query", None)),
                            models.Q(("floor_n__gt", 0), ("floor_query__isnull", False)),
                            _connector="OR",
                        ),
                        name="checks_floor_has_both",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CheckRun",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("check_name", models.TextField(db_column="check")),
                ("started_at", models.DateTimeField()),
                (
                    "finished_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("ok", models.BooleanField()),
                ("matched", models.BigIntegerField(null=True)),
                ("floor_seen", models.BigIntegerField(null=True)),
                ("detail", ledger.models.base.SafeJSONField(null=True)),
            ],
            options={
                "db_table": "check_runs",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("check_name", "started_at"), name="check_runs_one_per_start"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HotKey",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "target",
                        "record_key",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("target", models.TextField()),
                ("record_key", models.TextField()),
                ("conflicts", models.BigIntegerField()),
                ("undecided", models.BigIntegerField()),
                (
                    "workflows",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField()),
                ),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("lane", models.TextField()),
                ("depth", models.BigIntegerField()),
                ("held_by", models.TextField(null=True)),
            ],
            options={
                "db_table": "hot_keys",
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Lane",
            fields=[
                ("serial_key", models.TextField(primary_key=True, serialize=False)),
                ("depth", models.BigIntegerField()),
                ("held_by", models.TextField(null=True)),
                ("waiting_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "lanes",
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="BatchCurve",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "table_name",
                        "measured_at",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("table_name", models.TextField()),
                ("measured_at", models.DateTimeField()),
                ("predicate", models.TextField()),
                ("sample", ledger.models.base.SafeJSONField()),
                ("curve", ledger.models.base.SafeJSONField()),
                ("knee", models.IntegerField(null=True)),
                ("threshold", models.IntegerField(null=True)),
                ("measured_by", models.TextField()),
            ],
            options={
                "db_table": "batch_curves",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("knee", None), ("threshold", None)),
                            models.Q(("knee__gt", models.F("threshold")), ("threshold__gte", 1)),
                            _connector="OR",
                        ),
                        name="batch_curves_threshold_below_knee",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkflowDeploy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "workflow",
                    models.ForeignKey(
                        db_column="workflow",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.workflow",
                    ),
                ),
                ("version", models.TextField()),
                ("export_sha256", models.TextField()),
                ("deployed_by", models.TextField()),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("check_report", ledger.models.base.SafeJSONField()),
                ("anchor_statement", ledger.models.base.SafeJSONField()),
            ],
            options={
                "db_table": "workflow_deploys",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workflow", "version"), name="workflow_deploys_version_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("anchor_statement__kind__in", ["carry", "seed", "empty"])
                        ),
                        name="workflow_deploys_anchor_stated",
                    ),
                ],
            },
        ),
    ]
