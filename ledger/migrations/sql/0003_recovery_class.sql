-- recovery_class: the provider class that binds recovery of this job now.
-- A forced-unique provider that no longer remembers the key counts as advisory: with a handle
-- where it can be looked up by reference, blind where not. An unknown provider is blind.
CREATE OR REPLACE FUNCTION ledger.recovery_class(p_job public.jobs)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT CASE
            WHEN p.class <> 'forced_unique' OR ledger.may_redrive(p_job) THEN p.class
            WHEN p.lookup_by_reference THEN 'advisory_handle'
            ELSE 'advisory_blind'
        END
        FROM public.providers p WHERE p.name = p_job.provider), 'advisory_blind');
END
$$;
COMMENT ON FUNCTION ledger.recovery_class(public.jobs) IS
    'the provider class that binds recovery of this job now';
