-- complete_job: the work is done; store its result for every later caller. Done stays done.
-- From a worker that lost its hold the result is kept as late evidence and changes nothing.
-- Another result for a done job is result_mismatch and goes to a person.
CREATE OR REPLACE FUNCTION ledger.complete_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, version bigint, result jsonb, http_status integer,
    detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('complete_job', 'workflow', p_arg, '{
        "job_id": "text!", "owner_token": "uuid!", "result": "any!", "input_hash": "text",
        "http_status": "int:100..599", "provider_ref": "prose",
        "work_outcome": "enum:success|failed|skipped"}');
    v_locked record;
    v_job public.jobs;
    v_held record;
    v_idem public.idem;
    v_token uuid;
    v_judged record;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := (p_arg ->> 'owner_token')::uuid;
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    v_idem := v_locked.idem;
    v_held := ledger.judge_holder(v_call, v_job, v_token);
    outcome := v_held.verdict;
    detail := v_held.detail;
    IF outcome IS NULL THEN
        IF p_arg ->> 'provider_ref' IS NOT NULL THEN
            PERFORM ledger.keep_evidence(v_job.id, v_job.send_no, 'receipt',
                'workflow:' || v_call.workflow, p_arg ->> 'provider_ref', NULL);
        END IF;
        UPDATE public.jobs j SET
            state = 'done', provider_ref = coalesce(p_arg ->> 'provider_ref', j.provider_ref),
            last_close = jsonb_build_object('op', 'complete_job', 'token', v_token)
        WHERE j.id = v_job.id AND j.owner_token = v_token AND j.version = v_job.version
        RETURNING j.version INTO version;
        v_idem := ledger.finish_key(v_job.idem_key,
            coalesce(p_arg ->> 'work_outcome', 'success'), p_arg -> 'result',
            p_arg ->> 'input_hash', (p_arg ->> 'http_status')::integer);
        PERFORM ledger.end_letters(v_job.id, 'complete_job');
        outcome := 'won';
        v_rows := 1;
        detail := CASE WHEN v_job.first_marked_at IS NULL THEN '{"unmarked": true}'::jsonb END;
    ELSIF outcome = 'held_by_other' AND v_job.state = 'done' THEN
        SELECT * INTO v_judged FROM ledger.judge_result(v_call, v_job, v_idem, p_arg);
        outcome := v_judged.verdict;
        detail := v_judged.detail;
        result := ledger.stored_result(v_idem);
        http_status := v_idem.http_status;
    ELSIF outcome IN ('held_by_other', 'in_review') THEN
        detail := detail || jsonb_build_object('evidence_id', ledger.keep_late(
            v_call, v_job, v_token, p_arg ->> 'provider_ref', p_arg -> 'result'));
    END IF;
    job_id := v_job.id;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, ledger.hash(p_arg -> 'result'),
        coalesce(v_idem.result_hash, '(none)'), v_rows, p_job_id => p_arg ->> 'job_id',
        p_attempt => v_job.attempts, p_conflict_id => (detail ->> 'conflict_id')::bigint,
        p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.complete_job(jsonb) IS
    'the work is done; store its result for every later caller. Done stays done';
