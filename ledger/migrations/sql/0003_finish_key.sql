-- finish_key: a key is done, with its outcome and the result every later caller will be told.
-- Results over policy result_inline_bytes live beside the row and are found by their hash.
CREATE OR REPLACE FUNCTION ledger.finish_key(
    p_idem_key text, p_outcome text, p_result jsonb, p_input_hash text DEFAULT NULL,
    p_http_status integer DEFAULT NULL
)
RETURNS public.idem LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_idem public.idem;
    v_inline boolean := p_result IS NULL OR octet_length(p_result::text)
        <= (ledger.policy('result_inline_bytes') #>> '{}')::integer;
BEGIN
    UPDATE public.idem i SET
        status = 'done', outcome = p_outcome,
        done_at = coalesce(i.done_at, clock_timestamp()),
        applied_version = i.effect_version,
        result = CASE WHEN v_inline THEN p_result END,
        result_ref = CASE WHEN NOT v_inline
            THEN encode(ledger.store_body(p_result, NULL), 'hex') END,
        result_hash = ledger.hash(p_result), input_hash = p_input_hash,
        http_status = p_http_status, waiting_since = NULL
    WHERE i.idem_key = p_idem_key
    RETURNING i.* INTO v_idem;
    RETURN v_idem;
END
$$;
COMMENT ON FUNCTION ledger.finish_key(text, text, jsonb, text, integer) IS
    'a key is done, with its outcome and the result every later caller will be told';
