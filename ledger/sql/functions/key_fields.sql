-- key_fields: the fields of a key as given in an argument; NULL unless each is a dotted path.
CREATE OR REPLACE FUNCTION ledger.key_fields(p_fields jsonb)
RETURNS text[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF jsonb_typeof(p_fields) IS DISTINCT FROM 'array' OR p_fields = '[]' OR EXISTS (
        SELECT 1 FROM jsonb_array_elements(p_fields) f
        WHERE jsonb_typeof(f) <> 'string' OR f #>> '{}' !~ '^[^.[:cntrl:]]+(\.[^.[:cntrl:]]+)*$') THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(SELECT jsonb_array_elements_text(p_fields));
END
$$;
COMMENT ON FUNCTION ledger.key_fields(jsonb) IS
    'the fields of a key as given in an argument; NULL unless each is a dotted path';
