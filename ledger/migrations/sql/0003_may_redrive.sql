-- may_redrive: whether sending this job again with the same key is safe by construction.
-- True for a forced-unique provider as long as it still remembers the key; a row that was never
-- marked has nothing to remember.
CREATE OR REPLACE FUNCTION ledger.may_redrive(p_job public.jobs)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT p.class = 'forced_unique' AND (
            p_job.first_marked_at IS NULL OR p.key_unlimited
            OR clock_timestamp() < p_job.first_marked_at
                + make_interval(secs => p.key_ttl_seconds - p_job.lease_seconds))
        FROM public.providers p WHERE p.name = p_job.provider), false);
END
$$;
COMMENT ON FUNCTION ledger.may_redrive(public.jobs) IS
    'whether sending this job again with the same key is safe by construction';
