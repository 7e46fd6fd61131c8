-- save_effect: register an effect: whose it is, where it is sent, and who works it.
-- Members left out stay as they are (in a new row: take their default); null clears what may be empty.
-- replay: nothing differs.
CREATE OR REPLACE FUNCTION ledger.save_effect(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_effect', 'command', p_arg, '{
        "name": "text!", "workflow": "text!", "provider": "text!", "kind": "enum:replace|add",
        "reason": "prose!", "version": "id", "current_version": "int:1..1000000",
        "key_spec_version": "int:1..1000000", "wake_url": "prose", "amount_path": "text",
        "title": "text", "delivery": "enum:workflow_queue|native|wake_webhook"}');
BEGIN
    IF v_call.refused IS NULL AND p_arg ->> 'key_spec_version' IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.key_specs s WHERE s.effect = p_arg ->> 'name'
            AND s.version = (p_arg ->> 'key_spec_version')::integer) THEN
        detail := '{"path": "key_spec_version",
            "hint": "no such key specification; add_key_spec makes them"}';
        outcome := ledger.audit(v_call, 'rule_failed', 'effects:' || (p_arg ->> 'name'), '(none)',
            '(none)', 0, p_after => detail, p_reason => p_arg ->> 'reason');
    ELSE
        SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
        FROM ledger.save_row(v_call, 'effects', '{name}', p_arg, '{}') r;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_effect(jsonb) IS
    'register an effect: whose it is, where it is sent, and who works it';
