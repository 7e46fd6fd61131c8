-- confirm_landed: a workflow with the scope decide closes an uncertain send on positive evidence.
-- It can only confirm; sending again and abandoning are a person's, and so is believing evidence of
-- an earlier send, unless it is the handle that was found.
CREATE OR REPLACE FUNCTION ledger.confirm_landed(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, state text, job_id text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('confirm_landed', 'workflow', p_arg,
        '{"conflict_id": "id!", "evidence_id": "id!"}');
    v_own text;
    v_locked record;
    v_conflict public.conflicts;
    v_job public.jobs;
    v_evidence public.evidence;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_own := v_call.workflow;
    SELECT * INTO v_locked
    FROM ledger.lock_conflict(v_call, (p_arg ->> 'conflict_id')::bigint);
    v_call := v_locked.p_call;
    v_conflict := v_locked.conflict;
    v_job := v_locked.job;
    SELECT * INTO v_evidence FROM public.evidence e
    WHERE e.id = (p_arg ->> 'evidence_id')::bigint AND e.job_id = v_job.id
        AND e.kind IN ('lookup_found', 'receipt', 'late_receipt') AND (e.send_no = v_job.send_no
            OR (e.kind = 'lookup_found' AND EXISTS (SELECT 1 FROM public.providers p
                WHERE p.name = v_job.provider AND p.class = 'advisory_handle')));
    IF v_conflict.id IS NULL OR v_conflict.kind <> 'unknown_send' THEN
        outcome := 'rule_failed';
        detail := '{"why": "no_uncertain_send"}';
    ELSIF v_conflict.workflow <> v_own THEN
        outcome := 'wrong_role';
    ELSIF v_conflict.state <> 'open' THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('state', v_conflict.state, 'decision', v_conflict.decision,
            'resolved_by', v_conflict.resolved_by);
    ELSIF v_evidence.id IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"why": "no_positive_evidence"}';
    END IF;
    IF outcome IS NULL THEN
        SELECT c.outcome, c.detail INTO outcome, detail
        FROM ledger.carry_out(v_call, v_conflict, v_job, v_locked.idem, jsonb_build_object(
            'decision', 'landed', 'reason', 'confirmed by evidence ' || v_evidence.id,
            'provider_ref', v_evidence.provider_ref), NULL) c;
    ELSE
        outcome := ledger.audit(v_call, outcome, v_conflict.idem_key, '(none)', '(none)', 0,
            p_conflict_id => v_conflict.id, p_job_id => v_job.id, p_after => detail);
    END IF;
    SELECT c.state, c.job_id INTO state, job_id
    FROM public.conflicts c WHERE c.id = v_conflict.id AND c.workflow = v_own;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.confirm_landed(jsonb) IS
    'a workflow with the scope decide closes an uncertain send on positive evidence';
