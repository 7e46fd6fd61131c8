-- judge_run: the reconciler's decision table, held by the database: what to do about a running run.
-- terminated needs an end that the engine said more than finished_grace_s ago, so that a workflow's
-- own word that is on its way comes first. The system stops nothing that waits, ends nothing it
-- cannot see, and flags what only a person can settle, unless that person said not to for a day.
CREATE OR REPLACE FUNCTION ledger.judge_run(p_run public.runs)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_action text;
BEGIN
    v_action := CASE
        WHEN p_run.external_execution_id IS NULL THEN 'leave_flagged'
        WHEN p_run.terminal_first_seen_at <= v_now - ledger.seconds('finished_grace_s')
            THEN 'terminated'
        WHEN p_run.terminal_first_seen_at IS NOT NULL THEN 'leave_grace'
        WHEN p_run.engine_status IN ('unknown', 'not_found') THEN 'leave_flagged'
        WHEN p_run.engine_unknown_since <= v_now - ledger.seconds('engine_unknown_s')
            THEN 'leave_flagged'
        WHEN p_run.engine_unknown_since IS NOT NULL THEN 'leave'
        WHEN p_run.stop_requested_by IS NOT NULL THEN 'request_stop'
        WHEN p_run.deadline_at > v_now OR p_run.deadline_at IS NULL THEN 'leave'
        WHEN p_run.engine_status = 'waiting' THEN 'leave_flagged'
        ELSE 'request_stop'
    END;
    RETURN CASE WHEN v_action = 'leave_flagged' AND p_run.flag_muted_until > v_now
        THEN 'leave' ELSE v_action END;
END
$$;
COMMENT ON FUNCTION ledger.judge_run(public.runs) IS
    'the reconciler''s decision table, held by the database: what to do about a running run';
