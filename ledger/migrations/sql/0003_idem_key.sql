-- idem_key: the one key function: the same event gives the same key in every place; NULL without one.
CREATE OR REPLACE FUNCTION ledger.idem_key(p_effect text, p_event jsonb)
RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT d.idem_key FROM ledger.derive_key(p_effect, p_event, NULL, NULL) d);
END
$$;
COMMENT ON FUNCTION ledger.idem_key(text, jsonb) IS
    'the one key function: the same event gives the same key in every place; NULL without one';
