-- seconds: a policy given in seconds, as an interval.
CREATE OR REPLACE FUNCTION ledger.seconds(p_policy text)
RETURNS interval LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN make_interval(secs => (
        SELECT p.value::text::double precision FROM public.policies p WHERE p.name = p_policy));
END
$$;
COMMENT ON FUNCTION ledger.seconds(text) IS 'a policy given in seconds, as an interval';
