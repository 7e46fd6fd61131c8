-- is_base64: whether a text decodes as base64.
CREATE OR REPLACE FUNCTION ledger.is_base64(p_text text)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN decode(p_text, 'base64') IS NOT NULL;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION ledger.is_base64(text) IS 'whether a text decodes as base64';
