-- is_deep: whether a member nests deeper than 100 levels, which nobody could show or resend safely.
CREATE OR REPLACE FUNCTION ledger.is_deep(p_value jsonb)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN jsonb_path_exists(p_value,
        'strict $.**{100} ? (@.type() == "object" || @.type() == "array")');
END
$$;
COMMENT ON FUNCTION ledger.is_deep(jsonb) IS
    'whether a member nests deeper than 100 levels, which nobody could show or resend safely';
