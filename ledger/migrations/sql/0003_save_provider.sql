-- save_provider: register a provider, or change what is known of how it treats a repeat.
-- Members left out stay as they are (in a new row: take their default); null clears what may be empty.
-- replay: nothing differs. How long keys live is counted by the horizons from the next attempt on; a
-- signed archive expiry must stay past them.
CREATE OR REPLACE FUNCTION ledger.save_provider(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_provider', 'command', p_arg, '{
        "name": "text!", "class": "enum:forced_unique|advisory_handle|advisory_blind!",
        "reason": "prose!", "version": "id", "lookup_adapter": "text", "lookup_config": "object",
        "lease_seconds": "int:5..86400", "heartbeat_seconds": "int:1..86400",
        "settle_seconds": "int:0..2592000", "unmarked_action": "enum:review|requeue",
        "max_attempts": "int:1..1000", "max_lookup_errors": "int:1..100000",
        "key_ttl_seconds": "int:1..315360000", "key_unlimited": "bool",
        "caches_errors": "bool", "mismatch": "enum:error|ignored",
        "lookup_by_reference": "bool", "profile": "object",
        "retry_horizon_seconds": "int:0..315360000", "replay_horizon_seconds": "int:0..315360000",
        "retention_margin_seconds": "int:0..315360000"}');
    v_times CONSTANT text[] := ARRAY['retry_horizon', 'replay_horizon', 'retention_margin'];
    v_given jsonb := p_arg;
    v_name text;
BEGIN
    -- The registry holds these as intervals, in whole days where they are.
    IF v_call.refused IS NULL THEN
        FOREACH v_name IN ARRAY v_times LOOP
            IF p_arg ? (v_name || '_seconds') THEN
                v_given := v_given - (v_name || '_seconds') || jsonb_build_object(v_name,
                    justify_hours(make_interval(secs => (p_arg ->> (v_name || '_seconds'))::bigint)));
            END IF;
        END LOOP;
    END IF;
    SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
    FROM ledger.save_row(v_call, 'providers', '{name}', v_given, '{}') r;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_provider(jsonb) IS
    'register a provider, or change what is known of how it treats a repeat';
