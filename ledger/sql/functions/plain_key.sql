-- plain_key: a key as it may travel in an HTTP header: plain ASCII, or a digest.
CREATE OR REPLACE FUNCTION ledger.plain_key(p_key text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN p_key ~ '[^[:ascii:]]' OR length(p_key) > 255
        THEN 'landed:' || ledger.hash(to_jsonb(p_key)) ELSE p_key END;
END
$$;
COMMENT ON FUNCTION ledger.plain_key(text) IS
    'a key as it may travel in an HTTP header: plain ASCII, or a digest';
