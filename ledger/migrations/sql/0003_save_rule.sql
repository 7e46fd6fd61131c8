-- save_rule: register the rule whose function the owner installed, or end one.
-- The function is named by target and rule, never by the caller, and its comment ends with the
-- fingerprint of the source it was generated from: a row and a function of different sources never
-- meet. Registrations of one target follow each other. replay: nothing differs.
CREATE OR REPLACE FUNCTION ledger.save_rule(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, fn text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_rule', 'command', p_arg, '{
        "target": "text!", "name": "text!", "fields": "array", "reads": "array",
        "source": "prose", "remove": "bool", "reason": "prose!"}');
    v_target public.targets;
    v_before public.rules;
    v_new public.rules;
    v_constraint text;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    PERFORM 1 FROM public.targets t WHERE t.name = p_arg ->> 'target' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_target := ledger.find_target(p_arg ->> 'target');
    SELECT * INTO v_before FROM public.rules r
    WHERE r.target = p_arg ->> 'target' AND r.name = p_arg ->> 'name';
    v_new := v_before;
    v_new.source := p_arg ->> 'source';
    v_new.source_sha256 := encode(sha256(convert_to(v_new.source, 'UTF8')), 'hex');
    v_new.fields := ARRAY(SELECT f #>> '{}' FROM jsonb_array_elements(
        CASE jsonb_typeof(p_arg -> 'fields') WHEN 'array' THEN p_arg -> 'fields' ELSE '[]' END) f);
    v_new.reads := ARRAY(SELECT f #>> '{}' FROM jsonb_array_elements(
        CASE jsonb_typeof(p_arg -> 'reads') WHEN 'array' THEN p_arg -> 'reads' ELSE '[]' END) f);
    v_new.fn := format('ledger_rules.%I', (p_arg ->> 'target') || '__' || (p_arg ->> 'name'));
    IF (p_arg ->> 'remove')::boolean THEN
        DELETE FROM public.rules r WHERE r.id = v_before.id;
        outcome := CASE WHEN FOUND THEN 'won' ELSE 'replay' END;
        v_new := NULL;
    ELSIF v_target.name IS NULL THEN
        detail := '{"needs": "the target to be registered"}';
    ELSIF p_arg ->> 'name' !~ '^[a-z_][a-z0-9_]*$'
        OR octet_length((p_arg ->> 'target') || '__' || (p_arg ->> 'name')) > 63 THEN
        detail := '{"needs": "a name of lower-case letters, digits and _, short enough that it fits into 63 bytes together with its target"}';
    ELSIF EXISTS (SELECT 1 FROM unnest(v_new.fields) f
                  WHERE f IS NULL OR ledger.column_type(v_target, f) IS NULL)
        OR array_position(v_new.reads, NULL) IS NOT NULL THEN
        detail := '{"needs": "fields that the target has"}';
    ELSIF right(obj_description(to_regprocedure(v_new.fn || '(jsonb, jsonb)'), 'pg_proc'), 64)
        IS DISTINCT FROM v_new.source_sha256 OR v_new.source IS NULL THEN
        detail := '{"needs": "manage.py register_rule to install the function of this source"}';
    ELSIF v_new = v_before THEN
        outcome := 'replay';
    ELSE
        BEGIN
            INSERT INTO public.rules AS r (
                target, name, fields, fn, reads, source, source_sha256, registered_by)
            VALUES (v_target.name, p_arg ->> 'name', v_new.fields, v_new.fn, v_new.reads,
                v_new.source, v_new.source_sha256, v_call.actor)
            ON CONFLICT (target, name) DO UPDATE SET
                fields = excluded.fields, reads = excluded.reads, source = excluded.source,
                source_sha256 = excluded.source_sha256, registered_by = excluded.registered_by,
                registered_at = clock_timestamp()
            RETURNING * INTO v_new;
            outcome := 'won';
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS v_constraint = CONSTRAINT_NAME;
            detail := jsonb_build_object('constraint', v_constraint, 'hint', SQLERRM);
        END;
    END IF;
    outcome := coalesce(outcome, 'rule_failed');
    fn := CASE WHEN outcome <> 'rule_failed' THEN v_new.fn END;
    outcome := ledger.audit(v_call, outcome,
        'rule:' || (p_arg ->> 'target') || '.' || (p_arg ->> 'name'),
        ledger.hash(CASE WHEN v_before.id IS NOT NULL THEN to_jsonb(v_before) END),
        ledger.hash(CASE WHEN outcome <> 'rule_failed' THEN to_jsonb(v_new)
            WHEN v_before.id IS NOT NULL THEN to_jsonb(v_before) END),
        (outcome = 'won')::integer, p_target => p_arg ->> 'target',
        p_before => CASE WHEN v_before.id IS NOT NULL THEN to_jsonb(v_before) END,
        p_after => coalesce(detail, p_arg - 'actor'), p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_rule(jsonb) IS
    'register the rule whose function the owner installed, or end one';
