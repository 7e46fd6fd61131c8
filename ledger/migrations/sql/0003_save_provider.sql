-- save_provider: register a provider, or change what is known of how it treats a repeat.
-- Members left out stay as they are (in a new row: take their default); null clears what may be empty.
-- replay: nothing differs.
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
        "lookup_by_reference": "bool", "profile": "object"}');
BEGIN
    SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
    FROM ledger.save_row(v_call, 'providers', '{name}', p_arg, '{}') r;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_provider(jsonb) IS
    'register a provider, or change what is known of how it treats a repeat';
