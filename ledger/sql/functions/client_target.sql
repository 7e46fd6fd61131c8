-- client_target: the name of the target that holds one client's own rows.
-- What is legible of the client's id, and a digest of the whole of it: a-b and a_b never meet, and
-- the name is never longer than a table's may be. register_target makes tables of these names.
CREATE OR REPLACE FUNCTION ledger.client_target(p_target text, p_client text)
RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN left(p_target || '_'
        || regexp_replace(lower(p_client COLLATE "C"), '[^a-z0-9]+', '_', 'g'), 50)
        || '_' || substr(ledger.hash(jsonb_build_array(p_target, p_client)), 1, 12);
END
$$;
COMMENT ON FUNCTION ledger.client_target(text, text) IS
    'the name of the target that holds one client''s own rows';
