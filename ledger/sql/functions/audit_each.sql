-- audit_each: one audit row for each of many rows that one call changed, in one statement.
-- The lists name the rows side by side; every row has the same outcome. Guards: as ledger.audit.
CREATE OR REPLACE FUNCTION ledger.audit_each(
    p_call ledger.call, p_outcome text, p_keys text[], p_expected text[], p_actual text[],
    p_job_ids text[] DEFAULT NULL, p_attempts integer[] DEFAULT NULL
)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    INSERT INTO public.audit_events (
        at, actor_kind, actor, op, outcome, key, expected_hash, actual_hash, row_count, job_id,
        workflow, workflow_version, execution_id, attempt, after_retry, lock_wait_ms, duration_ms)
    SELECT
        v_now, p_call.actor_kind, p_call.actor, p_call.op, p_outcome,
        coalesce(nullif(left(r.key, 400), ''), '(none)'), coalesce(nullif(r.expected, ''), '(none)'),
        coalesce(nullif(r.actual, ''), '(none)'), 1, left(r.job_id, 400),
        p_call.workflow, p_call.workflow_version, p_call.execution_id, r.attempt, false,
        coalesce(extract(epoch FROM p_call.locked_at - p_call.lock_from) * 1000, 0),
        extract(epoch FROM v_now - p_call.started_at) * 1000
    FROM unnest(p_keys, p_expected, p_actual, p_job_ids, p_attempts)
        r (key, expected, actual, job_id, attempt);
    RETURN cardinality(p_keys);
END
$$;
COMMENT ON FUNCTION ledger.audit_each(
    ledger.call, text, text[], text[], text[], text[], integer[]) IS
    'one audit row for each of many rows that one call changed, in one statement';
