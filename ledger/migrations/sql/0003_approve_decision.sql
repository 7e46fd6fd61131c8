-- approve_decision: a second person lets a proposed decision take effect, exactly as proposed.
-- wrong_role: the proposer cannot approve. stale_version: the record moved, the proposal is dropped.
CREATE OR REPLACE FUNCTION ledger.approve_decision(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, conflict_id bigint, state text, decision text,
    resulting_revision text, job_id text, lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('approve_decision', 'human', p_arg,
        '{"conflict_id": "id!", "lock_version": "id!", "reason": "prose"}');
    v_conflict public.conflicts;
    v_locked record;
    v_job public.jobs;
    v_idem public.idem;
    v_proposal jsonb;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_locked FROM ledger.lock_conflict(v_call, (p_arg ->> 'conflict_id')::bigint);
    v_call := v_locked.p_call;
    v_conflict := v_locked.conflict;
    v_job := v_locked.job;
    v_idem := v_locked.idem;
    v_proposal := v_conflict.proposed || jsonb_build_object(
        'lock_version', p_arg -> 'lock_version', 'proposed_by', v_conflict.proposed_by,
        'approval_reason', p_arg -> 'reason');
    IF v_conflict.id IS NULL OR v_conflict.resolved_at IS NOT NULL THEN
        SELECT j.verdict, j.detail INTO outcome, detail
        FROM ledger.judge_human(v_conflict, v_job, p_arg) j;
    ELSIF v_conflict.proposed IS NULL THEN
        outcome := 'bad_transition';
        detail := '{"hint": "nothing is proposed"}';
    ELSIF v_conflict.proposed_by = v_call.actor THEN
        outcome := 'wrong_role';
        detail := '{"hint": "somebody else than the proposer must approve"}';
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSE
        SELECT j.verdict, j.detail INTO outcome, detail
        FROM ledger.judge_human(v_conflict, v_job, v_proposal) j;
    END IF;
    IF outcome IS NULL THEN
        SELECT c.outcome, c.detail INTO outcome, detail FROM ledger.carry_out(
            v_call, v_conflict, v_job, v_idem, v_proposal, v_call.actor) c;
        IF outcome = 'stale_version' THEN
            UPDATE public.conflicts c SET proposed = NULL, proposed_by = NULL, proposed_at = NULL
            WHERE c.id = v_conflict.id;
        END IF;
    ELSE
        outcome := ledger.audit_decision(
            v_call, outcome, v_conflict, 0, detail, p_arg ->> 'reason');
    END IF;
    SELECT c.id, c.state, c.decision, c.resulting_revision,
        coalesce(c.resolution ->> 'job_id', c.job_id), c.lock_version
    INTO conflict_id, state, decision, resulting_revision, job_id, lock_version
    FROM public.conflicts c WHERE c.id = v_conflict.id;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.approve_decision(jsonb) IS
    'a second person lets a proposed decision take effect, exactly as proposed';
