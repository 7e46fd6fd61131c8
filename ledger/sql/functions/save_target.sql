-- save_target: register a versioned table, or a store outside this database.
-- Members left out stay as they are (in a new row: take their default); null clears what may be empty.
-- replay: nothing differs.
-- rule_failed: the table cannot be a target, detail says why.
CREATE OR REPLACE FUNCTION ledger.save_target(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_target', 'command', p_arg, '{
        "name": "text!", "table": "text", "pk_column": "text", "revision_column": "text",
        "status_column": "text", "external": "bool", "client_of": "text",
        "client_id": "text", "reason": "prose!"}');
    v_old public.targets;
    v_problem text;
BEGIN
    IF v_call.refused IS NULL THEN
        SELECT * INTO v_old FROM public.targets t WHERE t.name = p_arg ->> 'name' FOR UPDATE;
        v_old := jsonb_populate_record(v_old, '{"pk_column": "id", "revision_column": "revision",
            "external": false}' || coalesce(jsonb_strip_nulls(to_jsonb(v_old)), '{}') || p_arg);
        v_problem := ledger.judge_target(v_old);
    END IF;
    IF v_problem IS NOT NULL THEN
        detail := jsonb_build_object('path', 'table', 'hint', v_problem);
        outcome := ledger.audit(v_call, 'rule_failed', 'targets:' || (p_arg ->> 'name'), '(none)',
            '(none)', 0, p_after => detail, p_reason => p_arg ->> 'reason');
    ELSE
        SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
        FROM ledger.save_row(v_call, 'targets', '{name}', p_arg, '{}') r;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_target(jsonb) IS
    'register a versioned table, or a store outside this database';
