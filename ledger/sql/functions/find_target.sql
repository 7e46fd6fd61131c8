-- find_target: a registered table of this database by its target's name; all NULL when there is none.
-- A table that was dropped, or lost its key or revision column, is no target any more.
CREATE OR REPLACE FUNCTION ledger.find_target(p_name text)
RETURNS public.targets LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_target public.targets;
BEGIN
    SELECT * INTO v_target FROM public.targets t
    WHERE t.name = p_name AND NOT t.external AND ledger.column_type(t, t.pk_column) IS NOT NULL
        AND ledger.column_type(t, t.revision_column) IS NOT NULL;
    RETURN v_target;
END
$$;
COMMENT ON FUNCTION ledger.find_target(text) IS
    'a registered table of this database by its target''s name; all NULL when there is none';
