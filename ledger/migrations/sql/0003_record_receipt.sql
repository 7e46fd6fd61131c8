-- record_receipt: keep the provider's own id of the effect the moment it is known, before done.
-- From a worker that lost its hold it is kept as late evidence and changes nothing.
CREATE OR REPLACE FUNCTION ledger.record_receipt(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('record_receipt', 'workflow', p_arg, '{
        "job_id": "text!", "owner_token": "uuid!", "provider_ref": "prose!", "body": "any"}');
    v_locked record;
    v_job public.jobs;
    v_held record;
    v_token uuid;
    v_ref text := p_arg ->> 'provider_ref';
    v_now timestamptz;
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
    v_held := ledger.judge_holder(v_call, v_job, v_token);
    outcome := v_held.verdict;
    detail := v_held.detail;
    v_now := clock_timestamp();
    IF outcome IS NULL AND v_job.provider_ref = v_ref AND EXISTS (
        SELECT 1 FROM public.evidence e
        WHERE e.job_id = v_job.id AND e.kind = 'receipt' AND e.send_no = v_job.send_no
            AND e.provider_ref = v_ref AND e.observed_at >= v_job.marker_at) THEN
        outcome := 'replay';
    ELSIF outcome IS NULL THEN
        -- A receipt proves a send, so an unmarked job counts as marked from here on.
        UPDATE public.jobs j SET
            provider_ref = v_ref, receipt_at = v_now,
            marker_at = coalesce(j.marker_at, v_now),
            first_marked_at = coalesce(j.first_marked_at, v_now)
        WHERE j.id = v_job.id AND j.owner_token = v_token
        RETURNING j.version INTO version;
        IF v_job.first_marked_at IS NULL THEN
            PERFORM ledger.hold_letters(v_job);
        END IF;
        PERFORM ledger.keep_evidence(v_job.id, v_job.send_no, 'receipt',
            'workflow:' || v_call.workflow, v_ref, p_arg -> 'body');
        outcome := 'won';
        v_rows := 1;
        detail := CASE WHEN v_job.first_marked_at IS NULL THEN '{"unmarked": true}'::jsonb END;
    ELSIF outcome = 'held_by_other' AND v_job.state = 'done'
        AND v_token = v_job.last_owner_token AND v_job.provider_ref = v_ref THEN
        outcome := 'replay';
    ELSIF outcome = 'held_by_other' THEN
        detail := detail || jsonb_build_object('evidence_id', ledger.keep_late(
            v_call, v_job, v_token, v_ref, p_arg -> 'body'));
    END IF;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, ledger.hash(to_jsonb(v_ref)),
        ledger.hash(to_jsonb(v_job.provider_ref)), v_rows, p_job_id => p_arg ->> 'job_id',
        p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.record_receipt(jsonb) IS
    'keep the provider''s own id of the effect the moment it is known, before done';
