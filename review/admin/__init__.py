"""The ledger's tables in the admin: read-only, bounded, one file a table.

Registering happens on import; review.apps imports this package once the models are ready.
"""

from review.admin import (
    api_keys,
    audit_events,
    batch_runs,
    conflicts,
    effects,
    evidence,
    failed_jobs,
    idem,
    jobs,
    liveness,
    outbox,
    people,
    policies,
    providers,
    rules,
    runs,
    sweep_locks,
    targets,
    workflows,
)

__all__ = [
    "api_keys",
    "audit_events",
    "batch_runs",
    "conflicts",
    "effects",
    "evidence",
    "failed_jobs",
    "idem",
    "jobs",
    "liveness",
    "outbox",
    "people",
    "policies",
    "providers",
    "rules",
    "runs",
    "sweep_locks",
    "targets",
    "workflows",
]
