-- read_conflict: what became of a conflict, for the workflow that lost; changes nothing.
-- changes is what the workflow must now hold. empty: there is no such conflict.
CREATE OR REPLACE FUNCTION ledger.read_conflict(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, conflict_id bigint, kind text, state text, decision text,
    changes jsonb, resulting_revision text, revision_seen text, resolved_by text,
    resolved_at timestamptz, reason text, job_id text, target text, record_key text,
    lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('read_conflict', 'workflow', p_arg,
        '{"conflict_id": "id!"}');
    v_conflict public.conflicts;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_conflict FROM public.conflicts c
    WHERE c.id = (p_arg ->> 'conflict_id')::bigint;
    IF v_conflict.id IS NULL THEN
        outcome := 'empty';
    ELSIF v_conflict.workflow <> v_call.workflow THEN
        outcome := ledger.audit(v_call, 'wrong_role', '(none)', '(none)', '(none)', 0,
            p_conflict_id => v_conflict.id);
    ELSE
        outcome := 'won';
        conflict_id := v_conflict.id;
        kind := v_conflict.kind;
        state := v_conflict.state;
        decision := v_conflict.decision;
        changes := v_conflict.resolution -> 'changes';
        resulting_revision := v_conflict.resulting_revision;
        revision_seen := v_conflict.resolution ->> 'revision_seen';
        resolved_by := v_conflict.resolved_by;
        resolved_at := v_conflict.resolved_at;
        reason := v_conflict.reason;
        job_id := coalesce(v_conflict.resolution ->> 'job_id', v_conflict.job_id);
        target := v_conflict.target;
        record_key := v_conflict.record_key;
        lock_version := v_conflict.lock_version;
        detail := CASE WHEN v_conflict.resolution ? 'delivery'
            THEN jsonb_build_object('delivery', v_conflict.resolution -> 'delivery') END;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.read_conflict(jsonb) IS
    'what became of a conflict, for the workflow that lost; changes nothing';
