-- attempts_left: whether a job may be tried again; each human resend allows one more attempt.
CREATE OR REPLACE FUNCTION ledger.attempts_left(
    p_job public.jobs, p_provider public.providers DEFAULT NULL
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_provider.name IS NULL THEN
        SELECT * INTO p_provider FROM public.providers p WHERE p.name = p_job.provider;
    END IF;
    RETURN p_job.attempts < p_job.resends + coalesce(p_provider.max_attempts, 1);
END
$$;
COMMENT ON FUNCTION ledger.attempts_left(public.jobs, public.providers) IS
    'whether a job may be tried again; each human resend allows one more attempt';
