-- store_body: keep the exact bytes of a payload, once per content; returns their sha256.
-- Two writers of the same bytes wait for each other, so bodies come first in the one lock order.
CREATE OR REPLACE FUNCTION ledger.store_body(p_payload jsonb, p_text text)
RETURNS bytea LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_body bytea := ledger.body_bytes(p_payload, p_text);
    v_sha bytea := sha256(v_body);
BEGIN
    INSERT INTO public.payload_bodies (sha256, body) VALUES (v_sha, v_body)
    ON CONFLICT DO NOTHING;
    RETURN v_sha;
END
$$;
COMMENT ON FUNCTION ledger.store_body(jsonb, text) IS
    'keep the exact bytes of a payload, once per content; returns their sha256';
