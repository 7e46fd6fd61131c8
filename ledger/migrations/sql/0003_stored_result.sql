-- stored_result: what a key was answered, wherever it is kept.
CREATE OR REPLACE FUNCTION ledger.stored_result(p_idem public.idem)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_idem.result_ref IS NULL THEN
        RETURN p_idem.result;
    END IF;
    RETURN (SELECT convert_from(b.body, 'UTF8')::jsonb FROM public.payload_bodies b
            WHERE b.sha256 = decode(p_idem.result_ref, 'hex'));
END
$$;
COMMENT ON FUNCTION ledger.stored_result(public.idem) IS
    'what a key was answered, wherever it is kept';
