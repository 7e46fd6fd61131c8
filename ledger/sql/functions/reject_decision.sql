-- reject_decision: a proposed decision is taken off the table; the conflict stays open.
CREATE OR REPLACE FUNCTION ledger.reject_decision(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, conflict_id bigint, lock_version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('reject_decision', 'human', p_arg,
        '{"conflict_id": "id!", "lock_version": "id!", "reason": "prose"}');
    v_locked record;
    v_conflict public.conflicts;
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
    IF v_conflict.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "conflict_id", "hint": "there is no such conflict"}';
    ELSIF v_conflict.proposed IS NULL OR v_conflict.resolved_at IS NOT NULL
        OR v_conflict.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('state', v_conflict.state,
            'resolved_by', v_conflict.resolved_by, 'resolved_at', v_conflict.resolved_at,
            'reason', v_conflict.reason, 'decision', v_conflict.decision);
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSE
        UPDATE public.conflicts c SET proposed = NULL, proposed_by = NULL, proposed_at = NULL
        WHERE c.id = v_conflict.id AND c.lock_version = v_conflict.lock_version;
        outcome := 'won';
        detail := jsonb_build_object('rejected', v_conflict.proposed);
    END IF;
    outcome := ledger.audit_decision(v_call, outcome, v_conflict, (outcome = 'won')::integer,
        detail, p_arg ->> 'reason');
    SELECT c.id, c.lock_version INTO conflict_id, lock_version
    FROM public.conflicts c WHERE c.id = v_conflict.id;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.reject_decision(jsonb) IS
    'a proposed decision is taken off the table; the conflict stays open';
