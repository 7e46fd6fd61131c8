-- may_redrive: whether sending this job again with the same key is safe by construction.
-- True for a forced-unique provider as long as it still remembers the key; a row that was never
-- marked has nothing to remember. Who has the job's provider at hand gives it.
CREATE OR REPLACE FUNCTION ledger.may_redrive(
    p_job public.jobs, p_provider public.providers DEFAULT NULL
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_provider.name IS NULL THEN
        SELECT * INTO p_provider FROM public.providers p WHERE p.name = p_job.provider;
    END IF;
    RETURN coalesce(p_provider.class = 'forced_unique' AND (
        p_job.first_marked_at IS NULL OR p_provider.key_unlimited
        OR clock_timestamp() < p_job.first_marked_at
            + make_interval(secs => p_provider.key_ttl_seconds - p_job.lease_seconds)), false);
END
$$;
COMMENT ON FUNCTION ledger.may_redrive(public.jobs, public.providers) IS
    'whether sending this job again with the same key is safe by construction';
