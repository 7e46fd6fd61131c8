-- enter_parked: a parked item enters again with the event a person gave: as a job or as a write.
-- An event that gives no key is refused before anything enters, or each try would park one more item.
CREATE OR REPLACE FUNCTION ledger.enter_parked(
    p_conflict public.conflicts, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT revision text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_key record;
    v_entered record;
    v_item jsonb := jsonb_build_object('workflow', p_conflict.workflow,
        'effect', p_conflict.effect, 'event', p_arg -> 'event');
BEGIN
    SELECT * INTO v_key FROM ledger.derive_key(
        p_conflict.effect, p_arg -> 'event', p_conflict.execution_id, NULL);
    IF v_key.problem IS NOT NULL THEN
        verdict := 'rule_failed';
        detail := jsonb_build_object('needs', 'an event that has the key fields',
            'path', v_key.path, 'problem', v_key.problem);
        RETURN;
    END IF;
    IF p_conflict.target IS NULL THEN
        SELECT q.outcome, q.detail, NULL::text AS revision, q.job_id INTO v_entered
        FROM ledger.enqueue_job(v_item || jsonb_build_object(
            'payload', p_conflict.attempted -> 'value')) q;
    ELSE
        SELECT w.outcome, w.detail, w.revision::text AS revision, NULL::text AS job_id
        INTO v_entered FROM ledger.write_fields(v_item || jsonb_build_object(
            'target', p_conflict.target, 'record_key', p_conflict.record_key,
            'changes', p_conflict.attempted,
            'expected_revision', p_arg -> 'revision_seen')) w;
    END IF;
    revision := v_entered.revision;
    detail := jsonb_strip_nulls(jsonb_build_object('entered', v_entered.outcome,
        'job_id', v_entered.job_id, 'entered_detail', v_entered.detail));
    IF v_entered.outcome IN ('unknown_effect', 'unknown_target', 'wrong_role', 'invalid') THEN
        verdict := 'rule_failed';
        detail := detail || jsonb_build_object('needs', CASE v_entered.outcome
            WHEN 'invalid' THEN 'values that the record can hold'
            ELSE 'the effect, its workflow and its target to be registered' END);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.enter_parked(public.conflicts, jsonb) IS
    'a parked item enters again with the event a person gave: as a job or as a write';
