-- audit: the one place that writes an audit row; returns the outcome it recorded.
-- Guards: the four facts (key, expected hash, actual hash, row count) are in every row; if this
-- insert fails, so does everything the operation wrote. Key and job are cut to what an index holds:
-- a caller may have named anything.
CREATE OR REPLACE FUNCTION ledger.audit(
    p_call ledger.call, p_outcome text, p_key text, p_expected text, p_actual text, p_rows integer,
    p_job_id text DEFAULT NULL, p_conflict_id bigint DEFAULT NULL, p_target text DEFAULT NULL,
    p_record_key text DEFAULT NULL, p_attempt integer DEFAULT NULL,
    p_after_retry boolean DEFAULT false, p_before jsonb DEFAULT NULL, p_after jsonb DEFAULT NULL,
    p_reason text DEFAULT NULL
)
RETURNS ledger.outcome LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    INSERT INTO public.audit_events (
        at, actor_kind, actor, op, outcome, key, expected_hash, actual_hash, row_count, target,
        record_key, job_id, conflict_id, workflow, workflow_version, execution_id, attempt,
        after_retry, lock_wait_ms, duration_ms, before, after, reason)
    VALUES (
        v_now, p_call.actor_kind, p_call.actor, p_call.op, p_outcome,
        coalesce(nullif(left(p_key, 400), ''), '(none)'), coalesce(nullif(p_expected, ''), '(none)'),
        coalesce(nullif(p_actual, ''), '(none)'), p_rows, p_target, p_record_key, left(p_job_id, 400),
        p_conflict_id, p_call.workflow, p_call.workflow_version, p_call.execution_id, p_attempt,
        p_after_retry,
        coalesce(extract(epoch FROM p_call.locked_at - p_call.lock_from) * 1000, 0),
        extract(epoch FROM v_now - p_call.started_at) * 1000, p_before, p_after, p_reason);
    RETURN p_outcome;
END
$$;
COMMENT ON FUNCTION ledger.audit(
    ledger.call, text, text, text, text, integer, text, bigint, text, text, integer, boolean,
    jsonb, jsonb, text) IS
    'the one place that writes an audit row; returns the outcome it recorded';
