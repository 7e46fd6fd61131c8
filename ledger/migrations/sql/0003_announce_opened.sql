-- announce_opened: tell the outside that a conflict now waits for a person.
CREATE OR REPLACE FUNCTION ledger.announce_opened(p_conflict_id bigint)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_conflict public.conflicts;
BEGIN
    SELECT * INTO v_conflict FROM public.conflicts c WHERE c.id = p_conflict_id;
    PERFORM ledger.announce('review.opened', 'conflict:' || v_conflict.id,
        v_conflict.lock_version, v_conflict.workflow, jsonb_build_object(
            'conflict_id', v_conflict.id, 'kind', v_conflict.kind, 'target', v_conflict.target,
            'record_key', v_conflict.record_key, 'job_id', v_conflict.job_id));
END
$$;
COMMENT ON FUNCTION ledger.announce_opened(bigint) IS
    'tell the outside that a conflict now waits for a person';
