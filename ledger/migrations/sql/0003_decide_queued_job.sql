-- decide_queued_job: a person lets a waiting job run now, or ends it.
CREATE OR REPLACE FUNCTION ledger.decide_queued_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, job_id text, state text, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_queued_job', 'human', p_arg, '{
        "job_id": "text!", "version": "id!", "reason": "prose", "decision": "enum:run_now|abandon!"}');
    v_locked record;
    v_job public.jobs;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    v_call.workflow := v_job.workflow;
    IF v_job.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "job_id", "hint": "there is no such job"}';
    ELSIF v_job.state IN ('done', 'abandoned') THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('state', v_job.state);
    ELSIF v_job.state <> 'queued' THEN
        outcome := 'bad_transition';
        detail := jsonb_build_object('state', v_job.state);
    ELSIF v_job.version <> (p_arg ->> 'version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('state', v_job.state, 'version', v_job.version,
            'run_after', v_job.run_after);
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSIF p_arg ->> 'decision' = 'run_now' THEN
        UPDATE public.jobs j SET run_after = clock_timestamp() WHERE j.id = v_job.id;
        outcome := 'won';
    ELSE
        UPDATE public.jobs j SET state = 'abandoned' WHERE j.id = v_job.id;
        PERFORM ledger.finish_key(v_job.idem_key, 'abandoned', jsonb_build_object(
            'decision', 'abandon', 'decided_by', v_call.actor));
        PERFORM ledger.end_letters(v_job.id, 'decide_queued_job');
        outcome := 'won';
    END IF;
    SELECT j.id, j.state, j.version INTO job_id, state, version
    FROM public.jobs j WHERE j.id = v_job.id;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
        v_job.payload_hash, (outcome = 'won')::integer, p_job_id => p_arg ->> 'job_id',
        p_after => coalesce(detail, jsonb_build_object('decision', p_arg -> 'decision')),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_queued_job(jsonb) IS
    'a person lets a waiting job run now, or ends it';
