-- add_key_spec: a new version of how an effect's key is derived; old versions stay for look-ups.
CREATE OR REPLACE FUNCTION ledger.add_key_spec(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version integer, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('add_key_spec', 'command', p_arg, '{
        "effect": "text!", "fields": "array!", "canon": "array", "reason": "prose!",
        "mode": "enum:event_id|hash_fields"}');
    v_last public.key_specs;
    v_fields text[];
    v_canon text[];
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_fields := ledger.key_fields(p_arg -> 'fields');
    v_canon := CASE WHEN jsonb_typeof(p_arg -> 'canon') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(p_arg -> 'canon'))
        ELSE array_fill('raw'::text, ARRAY[coalesce(cardinality(v_fields), 0)]) END;
    v_call.lock_from := clock_timestamp();
    PERFORM 1 FROM public.effects e WHERE e.name = p_arg ->> 'effect' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF NOT FOUND THEN
        outcome := 'rule_failed';
        detail := '{"hint": "register the effect first"}';
    ELSIF v_fields IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"path": "fields", "hint": "name fields of the event, such as order.id"}';
    ELSIF cardinality(v_fields) <> cardinality(v_canon)
        OR NOT v_canon <@ '{raw,lower,email,phone}' THEN
        outcome := 'rule_failed';
        detail := '{"hint": "give one canonical form (raw, lower, email, phone) per field"}';
    ELSE
        SELECT * INTO v_last FROM public.key_specs s
        WHERE s.effect = p_arg ->> 'effect' ORDER BY s.version DESC LIMIT 1;
        version := v_last.version;
        IF v_last.fields = v_fields AND v_last.canon = v_canon
            AND v_last.mode = coalesce(p_arg ->> 'mode', 'event_id') THEN
            outcome := 'replay';
        ELSE
            INSERT INTO public.key_specs AS s (effect, version, mode, fields, canon)
            VALUES (p_arg ->> 'effect', coalesce(v_last.version, 0) + 1,
                coalesce(p_arg ->> 'mode', 'event_id'), v_fields, v_canon)
            RETURNING s.version INTO version;
            UPDATE public.key_specs s SET retired_at = clock_timestamp()
            WHERE s.effect = p_arg ->> 'effect' AND s.version = v_last.version;
            UPDATE public.effects e SET
                key_spec_version = add_key_spec.version, version = e.version + 1
            WHERE e.name = p_arg ->> 'effect';
            outcome := 'won';
        END IF;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'key_spec:' || (p_arg ->> 'effect'),
        ledger.hash(to_jsonb(v_last)), ledger.hash(p_arg -> 'fields'),
        (outcome = 'won')::integer, p_after => p_arg - 'actor', p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.add_key_spec(jsonb) IS
    'a new version of how an effect''s key is derived; old versions stay for look-ups';
