"""The ledger's tables, one noun a file. Import models from here."""

from ledger.models.alerts import Alert
from ledger.models.api_keys import ApiKey
from ledger.models.audit_events import AuditEvent, AuditSeal
from ledger.models.baselines import Baseline
from ledger.models.batch_curves import BatchCurve
from ledger.models.batch_runs import BatchRun
from ledger.models.checks import Check, CheckRun
from ledger.models.conflicts import Conflict
from ledger.models.effects import Effect, KeySpec
from ledger.models.failed_jobs import FailedJob
from ledger.models.idem import ArchivedIdem, Idem
from ledger.models.jobs import Evidence, Job, PayloadBody
from ledger.models.lanes import HotKey, Lane
from ledger.models.outbox import OutboxMessage
from ledger.models.policies import Policy
from ledger.models.providers import Provider
from ledger.models.rules import Rule
from ledger.models.runs import Run
from ledger.models.sweep_locks import Liveness, SweepLock
from ledger.models.targets import AllowedTransition, FieldOwnership, RecordHistory, Target
from ledger.models.workflow_deploys import WorkflowDeploy
from ledger.models.workflows import Workflow

__all__ = [
    "Alert",
    "AllowedTransition",
    "ApiKey",
    "ArchivedIdem",
    "AuditEvent",
    "AuditSeal",
    "Baseline",
    "BatchCurve",
    "BatchRun",
    "Check",
    "CheckRun",
    "Conflict",
    "Effect",
    "Evidence",
    "FailedJob",
    "FieldOwnership",
    "HotKey",
    "Idem",
    "Job",
    "KeySpec",
    "Lane",
    "Liveness",
    "OutboxMessage",
    "PayloadBody",
    "Policy",
    "Provider",
    "RecordHistory",
    "Rule",
    "Run",
    "SweepLock",
    "Target",
    "Workflow",
    "WorkflowDeploy",
]
