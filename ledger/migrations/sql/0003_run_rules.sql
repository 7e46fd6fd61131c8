-- run_rules: the first rule of a target that a change would break, and the inputs of those that ran.
-- The row is locked already; each rule locks what it reads, in the order of their names, and then
-- looks with a fresh snapshot. A change runs the rules of its fields. Without a change every rule is
-- asked for its inputs, nothing is locked and nothing can fail.
CREATE OR REPLACE FUNCTION ledger.run_rules(
    p_target public.targets, p_current jsonb, p_changes jsonb, OUT failed text, OUT inputs jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_rule public.rules;
    v_run record;
BEGIN
    inputs := '{}';
    FOR v_rule IN
        SELECT * FROM public.rules r
        WHERE r.target = p_target.name
            AND (p_changes = '{}' OR r.fields = '{}' OR p_changes ?| r.fields)
        ORDER BY r.name
    LOOP
        SELECT * INTO v_run FROM ledger.run_rule(v_rule, p_current, p_changes);
        inputs := inputs || jsonb_build_object(v_rule.name, v_run.inputs);
        IF NOT v_run.ok AND p_changes <> '{}' THEN
            failed := v_rule.name;
            RETURN;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.run_rules(public.targets, jsonb, jsonb) IS
    'the first rule of a target that a change would break, and the inputs of those that ran';
