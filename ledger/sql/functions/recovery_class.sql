-- recovery_class: the provider class that binds recovery of this job now.
-- A forced-unique provider that no longer remembers the key counts as advisory: with a handle
-- where it can be looked up by reference, blind where not. An unknown provider is blind.
CREATE OR REPLACE FUNCTION ledger.recovery_class(
    p_job public.jobs, p_provider public.providers DEFAULT NULL
)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_provider.name IS NULL THEN
        SELECT * INTO p_provider FROM public.providers p WHERE p.name = p_job.provider;
    END IF;
    RETURN CASE
        WHEN p_provider.class <> 'forced_unique' OR ledger.may_redrive(p_job, p_provider)
            THEN p_provider.class
        WHEN p_provider.lookup_by_reference THEN 'advisory_handle'
        ELSE 'advisory_blind'
    END;
END
$$;
COMMENT ON FUNCTION ledger.recovery_class(public.jobs, public.providers) IS
    'the provider class that binds recovery of this job now';
