-- retry_failed_job: the schedule tries a dead letter again, counting up, until it is exhausted.
CREATE OR REPLACE FUNCTION ledger.retry_failed_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, job_id text, retry_count integer, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('retry_failed_job', 'sweeper', p_arg,
        '{"failed_job_id": "id!"}');
    v_locked record;
    v_letter public.failed_jobs;
    v_job public.jobs;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_locked
    FROM ledger.lock_letter(v_call, (p_arg ->> 'failed_job_id')::bigint);
    v_call := v_locked.p_call;
    v_letter := v_locked.letter;
    v_job := v_locked.job;
    IF v_letter.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "failed_job_id", "hint": "there is no such dead letter"}';
    ELSIF v_letter.state IN ('resolved', 'abandoned') THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('state', v_letter.state, 'reason', v_letter.reason);
    ELSIF v_letter.state = 'exhausted' THEN
        outcome := 'rule_failed';
        detail := '{"why": "exhausted"}';
    ELSIF v_letter.proposed IS NOT NULL THEN
        outcome := 'rule_failed';
        detail := '{"why": "change_proposed"}';
    ELSE
        SELECT r.outcome, r.detail INTO outcome, detail
        FROM ledger.revive_letter(v_call, v_letter, v_job) r;
    END IF;
    SELECT f.job_id, f.retry_count INTO job_id, retry_count
    FROM public.failed_jobs f WHERE f.id = v_letter.id;
    outcome := ledger.audit(v_call, outcome, coalesce(v_job.idem_key, v_letter.item_key),
        coalesce(v_job.payload_hash, '(none)'), coalesce(v_job.payload_hash, '(none)'),
        (outcome IN ('won', 'in_review'))::integer, p_job_id => job_id,
        p_conflict_id => (detail ->> 'conflict_id')::bigint, p_attempt => retry_count,
        p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.retry_failed_job(jsonb) IS
    'the schedule tries a dead letter again, counting up, until it is exhausted';
