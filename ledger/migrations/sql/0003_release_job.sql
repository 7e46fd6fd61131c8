-- release_job: the holder gives a job back untouched. After a mark it may not: already_marked.
CREATE OR REPLACE FUNCTION ledger.release_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, next text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('release_job', 'workflow', p_arg,
        '{"job_id": "text!", "owner_token": "uuid!"}');
    v_locked record;
    v_job public.jobs;
    v_held record;
    v_token uuid;
    v_close jsonb;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := (p_arg ->> 'owner_token')::uuid;
    v_close := jsonb_build_object('op', 'release_job', 'token', v_token);
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
    ELSIF outcome IS NULL AND v_job.marker_at IS NOT NULL THEN
        outcome := 'already_marked';
        detail := jsonb_build_object('marker_at', v_job.marker_at, 'hint', 'a send was announced; '
            'complete it, or fail it with effect_state rejected or unknown');
    ELSIF outcome IS NULL THEN
        next := ledger.give_back_job(v_job, false, false, interval '0', NULL, NULL, v_close);
        outcome := 'won';
        v_rows := 1;
    END IF;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
        v_job.payload_hash, v_rows, p_job_id => p_arg ->> 'job_id', p_attempt => v_job.attempts,
        p_after => coalesce(detail, jsonb_build_object('next', next)));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.release_job(jsonb) IS
    'the holder gives a job back untouched. After a mark it may not: already_marked';
