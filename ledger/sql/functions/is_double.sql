-- is_double: whether a member left out, null or a number fits into a double.
CREATE OR REPLACE FUNCTION ledger.is_double(p_value jsonb)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF jsonb_typeof(p_value) IS NULL OR p_value = 'null' THEN
        RETURN true;
    END IF;
    RETURN jsonb_typeof(p_value) = 'number' AND abs((p_value #>> '{}')::numeric) < 1e300
        AND (p_value = '0' OR abs((p_value #>> '{}')::numeric) > 1e-300);
END
$$;
COMMENT ON FUNCTION ledger.is_double(jsonb) IS
    'whether a member left out, null or a number fits into a double';
