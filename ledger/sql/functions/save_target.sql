-- save_target: register a versioned table, or a store outside this database.
-- The argument is the whole row: members left out take their default. replay: nothing differs.
CREATE OR REPLACE FUNCTION ledger.save_target(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_target', 'command', p_arg, '{
        "name": "text!", "table": "text", "pk_column": "text", "revision_column": "text",
        "status_column": "text", "external": "bool", "reason": "prose!"}');
BEGIN
    SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
    FROM ledger.save_row(v_call, 'targets', 'name', p_arg) r;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_target(jsonb) IS
    'register a versioned table, or a store outside this database';
