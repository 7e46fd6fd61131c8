-- keep_deep: an argument that must not be refused for its content, without members that nest too deep.
-- Like a body over HTTP that cannot be stored: all of it is kept as raw_base64 with parse_error, and
-- what can be read of it stays. Others as they are.
CREATE OR REPLACE FUNCTION ledger.keep_deep(p_arg jsonb)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_deep text[];
BEGIN
    IF jsonb_typeof(p_arg) IS DISTINCT FROM 'object' OR NOT jsonb_path_exists(p_arg,
        'strict $.**{101} ? (@.type() == "object" || @.type() == "array")') THEN
        RETURN p_arg;
    END IF;
    v_deep := ARRAY(SELECT m.key FROM jsonb_each(p_arg) m
                    WHERE ledger.is_deep(m.value) ORDER BY m.key);
    RETURN (p_arg - v_deep) || jsonb_build_object(
        'raw_base64', translate(encode(convert_to(p_arg::text, 'UTF8'), 'base64'), E'\n', ''),
        'parse_error', left(v_deep[1], 60) || ': nested deeper than 100 levels; flatten it');
END
$$;
COMMENT ON FUNCTION ledger.keep_deep(jsonb) IS
    'an argument that must not be refused for its content, without members that nest too deep';
