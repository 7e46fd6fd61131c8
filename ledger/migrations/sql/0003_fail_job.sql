-- fail_job: the holder failed and says what it knows of the effect.
-- not_started (unmarked) or rejected: tried again later, or dead when no attempt is left.
-- unknown, or not_started after the mark: left for the sweeper, which asks the provider.
CREATE OR REPLACE FUNCTION ledger.fail_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, next text, run_after timestamptz, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('fail_job', 'workflow', p_arg, '{
        "job_id": "text!", "owner_token": "uuid!", "error": "prose!", "error_node": "text",
        "http_status": "int:100..599", "replayed": "bool",
        "effect_state": "enum:not_started|rejected|unknown!"}');
    v_locked record;
    v_job public.jobs;
    v_held record;
    v_token uuid;
    v_close jsonb;
    v_state text;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := (p_arg ->> 'owner_token')::uuid;
    v_state := p_arg ->> 'effect_state';
    v_close := jsonb_build_object('op', 'fail_job', 'token', v_token, 'decision', v_state);
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    v_held := ledger.judge_holder(v_call, v_job, v_token);
    outcome := v_held.verdict;
    detail := v_held.detail;
    IF v_job.last_close @> v_close THEN
        outcome := 'replay';
        next := v_job.last_close ->> 'next';
        detail := NULL;
    ELSIF outcome IS NULL THEN
        IF coalesce((p_arg ->> 'replayed')::boolean, false) THEN
            PERFORM ledger.keep_evidence(v_job.id, v_job.send_no, 'error_replayed',
                'workflow:' || v_call.workflow, NULL,
                jsonb_build_object('http_status', p_arg -> 'http_status',
                    'error', left(p_arg ->> 'error', 2000)));
            v_state := 'unknown';
        END IF;
        IF v_job.receipt_at >= v_job.marker_at THEN
            -- The provider confirmed this very send: what is tried again now is sent twice.
            v_state := 'unknown';
        END IF;
        next := ledger.give_back_job(
            v_job, v_state = 'unknown' OR (v_state = 'not_started' AND v_job.marker_at IS NOT NULL),
            v_state = 'rejected', ledger.seconds('retry_backoff_s') * v_job.attempts,
            p_arg ->> 'error', p_arg ->> 'error_node', v_close);
        outcome := 'won';
        v_rows := 1;
    END IF;
    run_after := (SELECT j.run_after FROM public.jobs j WHERE j.id = v_job.id AND next = 'queued');
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
        v_job.payload_hash, v_rows, p_job_id => p_arg ->> 'job_id', p_attempt => v_job.attempts,
        p_after => coalesce(detail, jsonb_build_object('next', next)),
        p_reason => left(p_arg ->> 'error', 2000));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.fail_job(jsonb) IS
    'the holder failed and says what it knows of the effect';
