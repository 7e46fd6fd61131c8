-- end_run: end a run on its workflow's own word, once.
CREATE OR REPLACE FUNCTION ledger.end_run(
    p_call ledger.call, p_arg jsonb, p_status text, OUT outcome ledger.outcome, OUT run_id uuid,
    OUT status text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_run public.runs;
    v_result jsonb := coalesce(p_arg -> 'result', 'null');
BEGIN
    IF p_call.refused IS NOT NULL THEN
        outcome := p_call.refused;
        detail := p_call.detail;
        RETURN;
    END IF;
    p_call.lock_from := clock_timestamp();
    SELECT * INTO v_run FROM public.runs r WHERE r.id = (p_arg ->> 'run_id')::uuid FOR UPDATE;
    p_call.locked_at := clock_timestamp();
    IF v_run.id IS NULL THEN
        outcome := 'lost_claim';
        detail := '{"hint": "no such run; start it with start_run"}';
    ELSIF v_run.workflow <> p_call.workflow THEN
        outcome := 'wrong_role';
    ELSIF v_run.status = p_status AND (p_status = 'failed' OR v_run.result = v_result) THEN
        outcome := 'replay';
    ELSIF v_run.status <> 'running' THEN
        UPDATE public.runs r SET
            late_result = coalesce(r.late_result, p_arg - 'run_id'),
            lock_version = r.lock_version + 1
        WHERE r.id = v_run.id;
        outcome := 'already_terminal';
        detail := jsonb_build_object('status', v_run.status);
    ELSE
        UPDATE public.runs r SET
            status = p_status, ended_at = clock_timestamp(), ended_by = 'workflow',
            result = CASE p_status WHEN 'completed' THEN v_result END,
            error = p_arg ->> 'error', needs_operator = false, waiting_since = NULL,
            lock_version = r.lock_version + 1
        WHERE r.id = v_run.id RETURNING r.* INTO v_run;
        outcome := 'won';
    END IF;
    run_id := v_run.id;
    status := v_run.status;
    outcome := ledger.audit(p_call, outcome, 'run:' || (p_arg ->> 'run_id'),
        coalesce(v_run.status, '(none)'), ledger.hash(p_arg -> 'result'),
        (outcome IN ('won', 'already_terminal'))::integer, p_job_id => v_run.job_id,
        p_after => detail, p_reason => left(p_arg ->> 'error', 2000));
END
$$;
COMMENT ON FUNCTION ledger.end_run(ledger.call, jsonb, text) IS
    'end a run on its workflow''s own word, once';
