-- purge_jobs: drop finished jobs whose key went to the archive; the key always outlives its job.
-- The oldest go first; that a job was made long ago is asked because an index tells it.
-- A job that overtook a stopped one of its lane stays with it: it tells why that is not sent again.
CREATE OR REPLACE FUNCTION ledger.purge_jobs(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('purge_jobs', 'sweeper', p_arg, '{"limit": "int:1..5000"}');
    v_before timestamptz := clock_timestamp() - ledger.seconds('job_retention_s');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    WITH due AS (
        SELECT j.id FROM public.jobs j
        WHERE j.state IN ('done', 'abandoned')
            AND j.updated_at < v_before AND j.created_at < v_before
            AND EXISTS (SELECT 1 FROM public.idem_archive a WHERE a.idem_key = j.idem_key)
            AND NOT EXISTS (SELECT 1 FROM public.conflicts c
                WHERE c.job_id = j.id AND c.state IN ('detected', 'open'))
            AND NOT EXISTS (SELECT 1 FROM public.failed_jobs f
                WHERE f.job_id = j.id AND f.state IN ('open', 'retrying', 'exhausted'))
            AND NOT EXISTS (SELECT 1 FROM public.jobs e
                WHERE e.serial_key = j.serial_key AND e.state IN ('review', 'dead')
                    AND e.created_at < j.created_at)
        ORDER BY j.created_at LIMIT coalesce((p_arg ->> 'limit')::integer, 500)
        FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM public.jobs j USING due WHERE j.id = due.id
        RETURNING j.id, j.idem_key, j.payload_hash
    )
    SELECT count(ledger.audit(v_call, 'won', g.idem_key, g.payload_hash, '(none)', 1,
        p_job_id => g.id)) INTO n FROM gone g;
    outcome := CASE WHEN n > 0 THEN 'won' ELSE 'empty' END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.purge_jobs(jsonb) IS
    'drop finished jobs whose key went to the archive; the key always outlives its job';
