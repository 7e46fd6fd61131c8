-- refuse_change: an append-only table changes for nobody.
CREATE OR REPLACE FUNCTION ledger.refuse_change()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: rows are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'LG403';
END
$$;
COMMENT ON FUNCTION ledger.refuse_change() IS 'an append-only table changes for nobody';
