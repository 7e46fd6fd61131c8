-- read_record: a record with the revision a later write must name, and the inputs of its rules.
CREATE OR REPLACE FUNCTION ledger.read_record(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, revision bigint, record jsonb, rule_inputs jsonb, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('read_record', 'workflow', p_arg,
        '{"target": "text!", "record_key": "text!"}');
    v_target public.targets;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_target := ledger.find_target(p_arg ->> 'target');
    IF v_target.name IS NULL THEN
        outcome := ledger.audit(v_call, 'unknown_target', '(none)', '(none)', '(none)', 0,
            p_target => p_arg ->> 'target', p_record_key => p_arg ->> 'record_key');
        detail := '{"hint": "no target of this name is registered here"}';
    ELSIF NOT EXISTS (SELECT 1 FROM public.field_ownership o
                      WHERE o.target = v_target.name AND o.workflow = v_call.workflow) THEN
        outcome := ledger.audit(v_call, 'wrong_role', '(none)', '(none)', '(none)', 0,
            p_target => v_target.name, p_record_key => p_arg ->> 'record_key');
        detail := '{"hint": "this workflow owns no field of the target"}';
    ELSE
        record := ledger.read_row(v_target, p_arg ->> 'record_key', false);
        outcome := CASE WHEN record IS NULL THEN 'lost_record' ELSE 'won' END;
        revision := (record ->> v_target.revision_column)::bigint;
        rule_inputs := CASE WHEN record IS NOT NULL
            THEN (ledger.run_rules(v_target, record, '{}')).inputs END;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.read_record(jsonb) IS
    'a record with the revision a later write must name, and the inputs of its rules';
