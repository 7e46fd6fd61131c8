-- known_provider: the provider a raw statement named, registered when it is new.
-- It becomes advisory without handle, with a warning: nothing may be assumed of it.
CREATE OR REPLACE FUNCTION ledger.known_provider(p_name text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_name IS NULL OR p_name !~ '^[^[:cntrl:]]{1,255}$' THEN
        RETURN '(unknown)';
    END IF;
    INSERT INTO public.providers (name, class, auto_registered)
    VALUES (p_name, 'advisory_blind', true) ON CONFLICT DO NOTHING;
    RETURN p_name;
END
$$;
COMMENT ON FUNCTION ledger.known_provider(text) IS
    'the provider a raw statement named, registered when it is new';
