-- set_policy: change one constant, under a name and with a reason.
CREATE OR REPLACE FUNCTION ledger.set_policy(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('set_policy', 'command', p_arg, '{
        "name": "text!", "value": "any!", "reason": "prose!", "version": "id"}');
    v_old public.policies;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_old FROM public.policies p WHERE p.name = p_arg ->> 'name' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF v_old.name IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"hint": "no policy of this name is shipped; names are fixed by the code"}';
    ELSIF jsonb_typeof(v_old.value) <> jsonb_typeof(p_arg -> 'value') THEN
        outcome := 'rule_failed';
        detail := jsonb_build_object('hint', 'the value must be a '
            || jsonb_typeof(v_old.value) || ', such as ' || v_old.value);
    ELSIF jsonb_typeof(v_old.value) = 'number' AND (
        (p_arg ->> 'value')::numeric < 0 OR (p_arg ->> 'value')::numeric > 1e9) THEN
        outcome := 'rule_failed';
        detail := '{"hint": "the value must lie between 0 and 1,000,000,000"}';
    ELSIF jsonb_typeof(v_old.value) = 'number' AND v_old.unit <> 'amount'
        AND (p_arg ->> 'value')::numeric % 1 <> 0 THEN
        outcome := 'rule_failed';
        detail := '{"hint": "the value must be a whole number"}';
    ELSIF v_old.name = 'lease_seconds'
        AND (p_arg ->> 'value')::numeric NOT BETWEEN 5 AND 86400 THEN
        outcome := 'rule_failed';
        detail := '{"hint": "a lease lasts from 5 to 86,400 seconds"}';
    ELSIF v_old.value = p_arg -> 'value' THEN
        outcome := 'replay';
        version := v_old.version;
    ELSIF (p_arg ->> 'version')::bigint <> v_old.version THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('version', v_old.version, 'value', v_old.value);
    ELSE
        UPDATE public.policies p SET
            value = p_arg -> 'value', source = 'operator', set_by = v_call.actor,
            set_at = clock_timestamp(), version = p.version + 1
        WHERE p.name = v_old.name RETURNING p.version INTO version;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome, 'policy:' || (p_arg ->> 'name'),
        ledger.hash(v_old.value), ledger.hash(p_arg -> 'value'), (outcome = 'won')::integer,
        p_before => v_old.value, p_after => p_arg -> 'value', p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.set_policy(jsonb) IS
    'change one constant, under a name and with a reason';
