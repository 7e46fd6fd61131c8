-- column_type: the SQL type of a target's column; NULL when it has no such column.
CREATE OR REPLACE FUNCTION ledger.column_type(p_target public.targets, p_column text)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
            WHERE a.attrelid = p_target."table"::regclass AND a.attname = p_column
                AND a.attnum > 0 AND NOT a.attisdropped);
END
$$;
COMMENT ON FUNCTION ledger.column_type(public.targets, text) IS
    'the SQL type of a target''s column; NULL when it has no such column';
