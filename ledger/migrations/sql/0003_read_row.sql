-- read_row: one row of a target as JSON, under lock when asked; NULL when there is none.
-- A record has one name, the text of its key: another text of the same value (012, an upper-case
-- UUID) names no record, or one record would have several keys and histories.
CREATE OR REPLACE FUNCTION ledger.read_row(
    p_target public.targets, p_record_key text, p_lock boolean
)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET intervalstyle = 'postgres' SET extra_float_digits = 1 AS $$
DECLARE
    v_row jsonb;
BEGIN
    EXECUTE format('SELECT to_jsonb(t) FROM %s t WHERE t.%I = $1::%s %s',
        p_target."table"::regclass, p_target.pk_column,
        ledger.column_type(p_target, p_target.pk_column),
        CASE WHEN p_lock THEN 'FOR UPDATE' ELSE '' END)
    INTO v_row USING p_record_key;
    RETURN CASE WHEN v_row ->> p_target.pk_column = p_record_key THEN v_row END;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.read_row(public.targets, text, boolean) IS
    'one row of a target as JSON, under lock when asked; NULL when there is none';
