-- column_type: the SQL type of a target's column; NULL when its table or the column is not there.
-- Without length or precision: a cast to them would cut a value down to another one that exists.
CREATE OR REPLACE FUNCTION ledger.column_type(p_target public.targets, p_column text)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT format_type(a.atttypid, -1) FROM pg_attribute a
            WHERE a.attrelid = to_regclass(p_target."table") AND a.attname = p_column
                AND a.attnum > 0 AND NOT a.attisdropped);
END
$$;
COMMENT ON FUNCTION ledger.column_type(public.targets, text) IS
    'the SQL type of a target''s column; NULL when its table or the column is not there';
