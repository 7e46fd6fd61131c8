-- store_body: keep the exact bytes of a payload, once per content; returns their sha256.
-- payload_text that is not the text of the payload is not kept: the payload's own text is.
CREATE OR REPLACE FUNCTION ledger.store_body(p_payload jsonb, p_text text)
RETURNS bytea LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_body bytea;
    v_sha bytea;
BEGIN
    IF p_text IS NOT NULL AND p_text <> p_payload::text THEN
        BEGIN
            IF p_text::jsonb = p_payload THEN
                v_body := convert_to(p_text, 'UTF8');
            END IF;
        EXCEPTION WHEN data_exception THEN
            v_body := NULL;
        END;
    END IF;
    v_body := coalesce(v_body, convert_to(p_payload::text, 'UTF8'));
    v_sha := sha256(v_body);
    INSERT INTO public.payload_bodies (sha256, body) VALUES (v_sha, v_body)
    ON CONFLICT DO NOTHING;
    RETURN v_sha;
END
$$;
COMMENT ON FUNCTION ledger.store_body(jsonb, text) IS
    'keep the exact bytes of a payload, once per content; returns their sha256';
