"""The control: what a careful program would send without functions, one transaction an operation.

Each entry writes the rows its operation writes, on the same tables with the same triggers: the
payload's bytes, the key, the job, the audit row with its four facts. It locks the key first, as the
lock order wants. It checks nothing: no argument, no caller's rights, no losing outcome, no expiry,
no archive. It knows the registered provider by heart, makes its own ids, and lets the database make
hashes, because only the database knows the canonical text of a jsonb.
"""

from typing import LiteralString

Statements = tuple[LiteralString, ...]

HASH: LiteralString = "encode(sha256(convert_to((%(hashed)s::jsonb)::text, 'UTF8')), 'hex')"
BODY: LiteralString = """
INSERT INTO payload_bodies (sha256, body)
VALUES (sha256(convert_to((%(payload)s::jsonb)::text, 'UTF8')),
        convert_to((%(payload)s::jsonb)::text, 'UTF8'))
ON CONFLICT DO NOTHING RETURNING sha256
"""
KEY: LiteralString = f"""
INSERT INTO idem (idem_key, effect, event_key, effect_version, effect_kind, status, job_id,
    workflow, payload_hash, claimed_at, last_possible_retry_at, retain_until)
VALUES (%(idem_key)s, 'bench-charge', %(event_key)s, 1, 'replace', 'pending', %(job_id)s, 'bench',
    {HASH}, clock_timestamp(), clock_timestamp() + interval '1 day',
    clock_timestamp() + interval '90 days')
ON CONFLICT DO NOTHING RETURNING payload_hash
"""
JOB_COLUMNS: LiteralString = """
INSERT INTO jobs (id, idem_key, effect, effect_version, workflow, provider, instance, state,
    payload, payload_hash, body_sha256, event, provider_key, handle, run_after, ready_at, attempts,
    owner_token, owner_kind, owner_name, claimed_at, lease_seconds, lease_expires_at, created_at,
    updated_at)
"""
JOB_VALUES: LiteralString = f"""
    %(payload)s::jsonb, {HASH}, sha256(convert_to((%(payload)s::jsonb)::text, 'UTF8')),
    %(event)s::jsonb, %(idem_key)s || ':v1',
    '<' || substr(encode(sha256(convert_to(%(idem_key)s || ':v1', 'UTF8')), 'hex'), 1, 40)
        || '@landed>', t.now
"""
CLAIMED: LiteralString = f"""
{JOB_COLUMNS}
SELECT %(job_id)s, %(idem_key)s, 'bench-charge', 1, 'bench', 'bench-pay', 'default', 'claimed',
    {JOB_VALUES}, NULL, 1, %(token)s::uuid, 'worker', 'bench', t.now, 600,
    t.now + interval '600 seconds', t.now, t.now
FROM (SELECT clock_timestamp()) t (now)
RETURNING version, provider_key, handle, attempts, lease_expires_at
"""
QUEUED: LiteralString = f"""
{JOB_COLUMNS}
SELECT %(job_id)s, %(idem_key)s, 'bench-charge', 1, 'bench', 'bench-pay', 'default', 'queued',
    {JOB_VALUES}, t.now, 0, NULL, NULL, NULL, NULL, 600, NULL, t.now, t.now
FROM (SELECT clock_timestamp()) t (now)
RETURNING version, run_after
"""
AUDIT: LiteralString = f"""
INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash, actual_hash,
    row_count, job_id, workflow, attempt, after_retry, lock_wait_ms, duration_ms)
VALUES (clock_timestamp(), 'workflow', 'bench', %(op)s, %(outcome)s, %(idem_key)s, {HASH}, {HASH},
    1, %(job_id)s, 'bench', 1, false, 0.01, 0.1)
"""
LOCK: LiteralString = "SELECT * FROM idem WHERE idem_key = %(idem_key)s FOR UPDATE"
FIND: LiteralString = "SELECT idem_key FROM jobs WHERE id = %(job_id)s"
HELD: LiteralString = """
WHERE id = %(job_id)s AND owner_token = %(token)s::uuid AND state = 'claimed' RETURNING version
"""
BACK: LiteralString = f"""
UPDATE jobs SET state = 'queued', run_after = clock_timestamp(), last_error = %(error)s,
    last_close = jsonb_build_object('op', %(op)s::text, 'token', %(token)s::text, 'next', 'queued')
{HELD}
"""

NEXT: LiteralString = """
WITH next AS (
    SELECT j.id FROM jobs j JOIN idem i ON i.idem_key = j.idem_key
    WHERE j.ready_at <= clock_timestamp() AND j.effect = 'bench-charge'
    ORDER BY j.ready_at, j.created_at LIMIT 1 FOR UPDATE OF i, j SKIP LOCKED
)
UPDATE jobs j SET state = 'claimed', attempts = attempts + 1, owner_token = %(token)s::uuid,
    owner_kind = 'worker', owner_name = 'bench', claimed_at = t.now,
    lease_expires_at = t.now + make_interval(secs => lease_seconds)
FROM next n, (SELECT clock_timestamp()) t (now) WHERE j.id = n.id
RETURNING j.id AS job_id, j.idem_key, j.version, j.payload, j.event, j.provider_key, j.handle,
    j.lease_expires_at
"""

PLAIN: dict[str, Statements] = {
    "claim_job": (BODY, KEY, CLAIMED, AUDIT),
    "claim_job replay": (
        BODY,
        (
            "INSERT INTO idem (idem_key, effect, payload_hash) VALUES (%(idem_key)s, 'bench',"
            f" {HASH}) ON CONFLICT DO NOTHING"
        ),
        LOCK,
        "SELECT * FROM jobs WHERE id = %(job_id)s FOR UPDATE",
        AUDIT,
    ),
    "enqueue_job": (BODY, KEY, QUEUED, AUDIT),
    "heartbeat_job": (
        (
            "UPDATE jobs SET claimed_at = t.now, heartbeat_at = t.now,"
            " lease_expires_at = t.now + make_interval(secs => lease_seconds)"
            " FROM (SELECT clock_timestamp()) t (now)"
            " WHERE id = %(job_id)s AND owner_token = %(token)s::uuid AND state = 'claimed'"
            " RETURNING version, lease_expires_at"
        ),
    ),
    "mark_sending": (
        LOCK,
        (
            "UPDATE jobs SET marker_at = t.now, first_marked_at = t.now, send_no = send_no + 1"
            " FROM (SELECT clock_timestamp()) t (now)"
            " WHERE id = %(job_id)s AND owner_token = %(token)s::uuid AND state = 'claimed'"
            " RETURNING provider_key, handle, send_no, version"
        ),
        AUDIT,
    ),
    "record_receipt": (
        LOCK,
        f"UPDATE jobs SET provider_ref = %(job_id)s, receipt_at = clock_timestamp() {HELD}",
        (
            "INSERT INTO evidence (job_id, send_no, kind, source, provider_ref)"
            " VALUES (%(job_id)s, 1, 'receipt', 'workflow:bench', %(job_id)s) RETURNING id"
        ),
        AUDIT,
    ),
    "complete_job": (
        FIND,
        LOCK,
        (
            "UPDATE jobs SET state = 'done', last_close = jsonb_build_object("
            f"'op', 'complete_job', 'token', %(token)s::text) {HELD}"
        ),
        (
            "UPDATE idem SET status = 'done', outcome = 'success', done_at = clock_timestamp(),"
            " applied_version = effect_version, result = %(payload)s::jsonb, http_status = 200,"
            f" result_hash = {HASH} WHERE idem_key = %(idem_key)s RETURNING result_hash"
        ),
        AUDIT,
    ),
    "fail_job": (LOCK, BACK, AUDIT),
    "release_job": (LOCK, BACK, AUDIT),
    "claim_next_job": (NEXT, AUDIT),
}
