"""Rows the ledger ships: policies, allowed transitions, and the system's own registry rows.

Installed by the owner after every migrate. What an operator changed is left alone.
"""

import json
from typing import Any

# name, value, unit, source, why this value
POLICIES: tuple[tuple[str, Any, str, str, str], ...] = (
    ("lease_seconds", 600, "s", "seed", "how long a claim lives without a heartbeat"),
    ("write_max_attempts", 3, "", "seed", "lost revisions of one write before a person decides"),
    ("dlq_max_retries", 3, "", "seed", "retries of a dead letter before it is exhausted"),
    ("payload_cap_bytes", 10240, "B", "seed", "what a dead letter keeps of a payload inline"),
    ("result_inline_bytes", 65536, "B", "guess", "what a key keeps of a result inline"),
    ("http_body_max", 2097152, "B", "guess", "the largest request body of the HTTP door"),
    ("retry_backoff_s", 60, "s", "guess", "wait before the next attempt, times the attempts made"),
    ("sweep_interval_s", 60, "s", "guess", "how often the sweeper runs"),
    ("sweep_lease_s", 60, "s", "guess", "how long a sweeper holds a row or a tick"),
    ("promote_interval_s", 60, "s", "guess", "how often waiting things are stamped"),
    ("dlq_interval_s", 60, "s", "guess", "how often due dead letters are tried again"),
    ("outbox_interval_s", 60, "s", "guess", "how often the outbox is relayed"),
    ("retention_interval_s", 3600, "s", "guess", "how often old keys and jobs are moved away"),
    ("seal_interval_s", 300, "s", "guess", "how often the audit is sealed"),
    ("settle_seconds", 900, "s", "guess", "wait before an absent effect may be believed absent"),
    ("pending_page_s", 3600, "s", "guess", "how long a pending item may wait unseen"),
    ("detected_promote_s", 600, "s", "guess", "how long a lost write may wait for its retry"),
    ("undo_s", 30, "s", "guess", "how long a resend can be taken back"),
    ("four_eyes_amount", 1000, "amount", "guess", "from here a resend needs a second person"),
    ("outbox_warn_s", 120, "s", "guess", "age of an unpublished message worth a warning"),
    ("reconcile_interval_s", 120, "s", "seed", "how often running runs are asked about"),
    (
        "drift_interval_s",
        3600,
        "s",
        "guess",
        "how often n8n is asked whether it runs what is deployed",
    ),
    ("finished_grace_s", 30, "s", "guess", "how long an ended engine waits for a run's own word"),
    ("engine_unknown_s", 3600, "s", "guess", "how long an engine may be unreachable"),
    (
        "completed_running_grace_s",
        600,
        "s",
        "guess",
        "how long an engine may run on after the run's own word of its end",
    ),
    ("batch_lease_s", 600, "s", "guess", "how long a batch lives without an advance"),
    ("outbox_retry_horizon_s", 1800, "s", "guess", "how long a message is tried before a person"),
    ("dlq_retry_s", 300, "s", "guess", "wait before the schedule tries a dead letter again"),
    ("rule_inputs_bytes", 16384, "B", "guess", "what a rule may say of what it looked at"),
    ("job_retention_s", 2592000, "s", "guess", "how long a finished job stays after its key left"),
    (
        "http_calls_per_minute",
        0,
        "",
        "guess",
        "calls of one token in each web process; 0: no limit",
    ),
    ("hot_key_conflicts", 3, "", "seed", "losses of one record from which it is called hot"),
    ("hot_key_window_s", 86400, "s", "seed", "how far back losses of a record count"),
    (
        "refusals_per_minute",
        60,
        "",
        "guess",
        "refusals of one person that the audit keeps a minute",
    ),
    (
        "login_attempts",
        10,
        "",
        "guess",
        "failed log-ins of a name or an address before it is locked",
    ),
    ("login_lockout_s", 900, "s", "guess", "how long a locked name or address waits"),
    ("session_idle_s", 7200, "s", "guess", "how long a log-in lasts without a page being opened"),
    ("session_absolute_s", 43200, "s", "guess", "how long a log-in lasts at most: a working day"),
    ("bulk_items", 1000, "", "guess", "items that one set holds at most"),
    ("bulk_canary", 5, "", "guess", "items of a set that go first, for a person to look at"),
    ("bulk_refusals", 5, "", "guess", "refused items that stop a set"),
    ("bulk_pause_s", 2, "s", "guess", "rest between two passes over the running sets"),
    ("second_factor_for_sends", False, "", "operator", "whether a send needs a second factor"),
    ("demo", False, "", "operator", "whether this ledger shows the demonstration"),
)

# machine -> from -> to
TRANSITIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "jobs": {
        "queued": ("claimed", "done", "abandoned", "review"),
        "claimed": ("done", "queued", "dead", "sweeping", "review"),
        "sweeping": ("done", "queued", "dead", "review"),
        "review": ("done", "queued", "abandoned"),
        "dead": ("queued", "review", "abandoned"),
    },
    "idem": {
        "pending": ("done", "review"),
        "review": ("pending", "done"),
        "done": ("pending",),
    },
    "conflicts": {
        "detected": ("open", "auto_resolved", "folded"),
        "open": ("applied", "kept", "merged", "confirmed", "resent", "abandoned"),
        "resent": ("open", "abandoned"),
    },
    "failed_jobs": {
        "open": ("retrying", "exhausted", "resolved", "abandoned"),
        "retrying": ("open", "exhausted", "resolved"),
        "exhausted": ("open", "retrying", "resolved", "abandoned"),
    },
    "batch_runs": {"running": ("complete", "failed"), "failed": ("running",)},
    "runs": {"running": ("completed", "failed", "failed_transient", "cancelled")},
    "alerts": {"firing": ("acked", "resolved"), "acked": ("resolved",)},
}

SYSTEM_WORKFLOWS = ("(sql)", "(native)")

_PROVIDERS = """
INSERT INTO public.providers (name, class, key_unlimited, settle_seconds) VALUES
    ('(unknown)', 'advisory_blind', false, 900),
    ('(database)', 'forced_unique', true, 0)
ON CONFLICT DO NOTHING
"""

# What it looks at has its own proof of life, the tick's, at the interval its policy says. This one
# only says that a look came to its end within a day.
_CHECKS = """
INSERT INTO public.checks (
    name, query_name, interval_seconds, jitter_seconds, page_policy)
VALUES ('reconciler', 'runs', 43200, 0, 'engine_unknown_s'),
    ('drift', 'workflows', 43200, 0, NULL)
ON CONFLICT DO NOTHING
"""

_EFFECTS = """
INSERT INTO public.effects (name, workflow, provider, kind)
VALUES ('(unknown)', '(sql)', '(unknown)', 'replace') ON CONFLICT DO NOTHING
"""


def install(cursor: Any) -> None:
    """Insert what is missing; run by the owner, on any cursor."""
    cursor.executemany(
        "INSERT INTO public.policies (name, value, unit, source, note)"
        " VALUES (%s, %s::jsonb, %s, %s, %s) ON CONFLICT DO NOTHING",
        [
            (name, json.dumps(value), unit, source, note)
            for name, value, unit, source, note in POLICIES
        ],
    )
    cursor.executemany(
        "INSERT INTO public.allowed_transitions (machine, from_state, to_state, workflow)"
        " VALUES (%s, %s, %s, '*') ON CONFLICT DO NOTHING",
        [
            (machine, before, after)
            for machine, moves in TRANSITIONS.items()
            for before, afters in moves.items()
            for after in afters
        ],
    )
    cursor.executemany(
        "INSERT INTO public.workflows (name) VALUES (%s) ON CONFLICT DO NOTHING",
        [(name,) for name in SYSTEM_WORKFLOWS],
    )
    cursor.execute(_PROVIDERS)
    cursor.execute(_EFFECTS)
    cursor.execute(_CHECKS)
    cursor.execute("SELECT ledger.extend_partitions()")
