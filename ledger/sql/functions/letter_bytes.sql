-- letter_bytes: the bytes a failure is kept as, also those that are no storable JSON.
CREATE OR REPLACE FUNCTION ledger.letter_bytes(p_arg jsonb)
RETURNS bytea LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_arg ->> 'parse_error' IS NOT NULL AND ledger.is_base64(p_arg ->> 'raw_base64') THEN
        RETURN decode(p_arg ->> 'raw_base64', 'base64');
    END IF;
    RETURN ledger.body_bytes(coalesce(p_arg -> 'payload', 'null'), p_arg ->> 'payload_text');
END
$$;
COMMENT ON FUNCTION ledger.letter_bytes(jsonb) IS
    'the bytes a failure is kept as, also those that are no storable JSON';
