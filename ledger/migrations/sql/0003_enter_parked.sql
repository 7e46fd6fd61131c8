-- enter_parked: a parked item enters again with the event a person gave: as a job or as a write.
CREATE OR REPLACE FUNCTION ledger.enter_parked(
    p_conflict public.conflicts, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT revision text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_item jsonb := p_conflict.attempted -> 'value';
    v_entered record;
BEGIN
    IF jsonb_typeof(v_item) = 'object' AND v_item ?& '{target,record_key,changes}' THEN
        SELECT w.outcome, w.detail, w.revision::text AS revision, NULL::text AS job_id
        INTO v_entered FROM ledger.write_fields(v_item || jsonb_build_object(
            'event', p_arg -> 'event', 'workflow', p_conflict.workflow,
            'expected_revision', coalesce(p_arg -> 'revision_seen',
                v_item -> 'expected_revision'))) w;
    ELSE
        SELECT q.outcome, q.detail, NULL::text AS revision, q.job_id
        INTO v_entered FROM ledger.enqueue_job(jsonb_build_object(
            'effect', p_conflict.effect, 'event', p_arg -> 'event', 'payload', v_item,
            'workflow', p_conflict.workflow)) q;
    END IF;
    revision := v_entered.revision;
    detail := jsonb_strip_nulls(jsonb_build_object('entered', v_entered.outcome,
        'job_id', v_entered.job_id, 'entered_detail', v_entered.detail));
    IF v_entered.outcome IN ('missing_key', 'key_is_run_identity', 'invalid') THEN
        verdict := 'rule_failed';
        detail := detail || '{"needs": "an event that has the key fields"}';
    ELSIF v_entered.outcome IN ('unknown_effect', 'unknown_target', 'wrong_role') THEN
        verdict := 'rule_failed';
        detail := detail || '{"needs": "the effect to be registered"}';
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.enter_parked(public.conflicts, jsonb) IS
    'a parked item enters again with the event a person gave: as a job or as a write';
