-- attempts_left: whether a job may be tried again; each human resend allows one more attempt.
CREATE OR REPLACE FUNCTION ledger.attempts_left(p_job public.jobs)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_job.attempts < p_job.resends + coalesce(
        (SELECT p.max_attempts FROM public.providers p WHERE p.name = p_job.provider), 1);
END
$$;
COMMENT ON FUNCTION ledger.attempts_left(public.jobs) IS
    'whether a job may be tried again; each human resend allows one more attempt';
