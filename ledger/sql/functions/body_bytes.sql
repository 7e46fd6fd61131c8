-- body_bytes: the exact bytes of a payload: its text as given where that is the payload's own text.
CREATE OR REPLACE FUNCTION ledger.body_bytes(p_payload jsonb, p_text text)
RETURNS bytea LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_text <> p_payload::text THEN
        BEGIN
            IF p_text::jsonb = p_payload THEN
                RETURN convert_to(p_text, 'UTF8');
            END IF;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            NULL;
        END;
    END IF;
    RETURN convert_to(p_payload::text, 'UTF8');
END
$$;
COMMENT ON FUNCTION ledger.body_bytes(jsonb, text) IS
    'the exact bytes of a payload: its text as given where that is the payload''s own text';
