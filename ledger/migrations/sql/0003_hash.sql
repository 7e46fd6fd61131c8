-- hash: the one fingerprint of a JSON value, the same through every door; NULL has the word (none).
CREATE OR REPLACE FUNCTION ledger.hash(p_value jsonb)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_value IS NULL THEN
        RETURN '(none)';
    END IF;
    RETURN encode(sha256(convert_to(p_value::text, 'UTF8')), 'hex');
END
$$;
COMMENT ON FUNCTION ledger.hash(jsonb) IS
    'the one fingerprint of a JSON value, the same through every door; NULL has the word (none)';
