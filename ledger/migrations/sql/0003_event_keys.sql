-- event_keys: every key that an event has or had for an effect, one for each specification.
CREATE OR REPLACE FUNCTION ledger.event_keys(p_effect text, p_event jsonb)
RETURNS text[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT k.idem_key FROM public.key_specs s
        CROSS JOIN LATERAL ledger.form_key(s, p_event, NULL) k
        WHERE s.effect = p_effect AND k.idem_key IS NOT NULL);
END
$$;
COMMENT ON FUNCTION ledger.event_keys(text, jsonb) IS
    'every key that an event has or had for an effect, one for each specification';
