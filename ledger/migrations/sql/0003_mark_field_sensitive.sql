-- mark_field_sensitive: a field is (or is no longer) never merged or retried without a person.
CREATE OR REPLACE FUNCTION ledger.mark_field_sensitive(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('mark_field_sensitive', 'command', p_arg, '{
        "target": "text!", "field": "text!", "sensitive": "bool!", "reason": "prose!"}');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    UPDATE public.field_ownership o SET sensitive = (p_arg ->> 'sensitive')::boolean
    WHERE o.target = p_arg ->> 'target' AND o.field = p_arg ->> 'field'
        AND o.sensitive <> (p_arg ->> 'sensitive')::boolean;
    GET DIAGNOSTICS n = ROW_COUNT;
    v_call.locked_at := clock_timestamp();
    outcome := CASE
        WHEN n > 0 THEN 'won'
        WHEN EXISTS (SELECT 1 FROM public.field_ownership o
                     WHERE o.target = p_arg ->> 'target' AND o.field = p_arg ->> 'field')
            THEN 'replay'
        ELSE 'rule_failed' END;
    detail := CASE outcome WHEN 'rule_failed'
        THEN '{"hint": "no workflow owns such a field"}'::jsonb END;
    outcome := ledger.audit(v_call, outcome,
        'field:' || (p_arg ->> 'target') || '.' || (p_arg ->> 'field'), '(none)',
        p_arg ->> 'sensitive', n::integer, p_target => p_arg ->> 'target',
        p_after => p_arg - 'actor', p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.mark_field_sensitive(jsonb) IS
    'a field is (or is no longer) never merged or retried without a person';
