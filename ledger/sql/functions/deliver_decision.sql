-- deliver_decision: a decided change for a store outside becomes a job of its workflow, when the
-- effect apply:<target>:<workflow> is registered; otherwise the workflow polls for it.
CREATE OR REPLACE FUNCTION ledger.deliver_decision(p_conflict public.conflicts, p_changes jsonb)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_effect text := 'apply:' || p_conflict.target || ':' || p_conflict.workflow;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM public.effects e WHERE e.name = v_effect) THEN
        RETURN '{}'::jsonb;
    END IF;
    RETURN (
        SELECT jsonb_build_object('job_id', q.job_id) FROM ledger.enqueue_job(jsonb_build_object(
            'workflow', p_conflict.workflow, 'effect', v_effect,
            'event', jsonb_build_object('id', 'conflict-' || p_conflict.id),
            'payload', jsonb_build_object('conflict_id', p_conflict.id,
                'target', p_conflict.target, 'record_key', p_conflict.record_key,
                'changes', p_changes))) q);
END
$$;
COMMENT ON FUNCTION ledger.deliver_decision(public.conflicts, jsonb) IS
    'a decided change for a store outside becomes a job of its workflow';
