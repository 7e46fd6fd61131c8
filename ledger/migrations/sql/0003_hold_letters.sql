-- hold_letters: a job that may not be sent again has no dead letter that looks as if it could be.
CREATE OR REPLACE FUNCTION ledger.hold_letters(p_job public.jobs)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM public.failed_jobs f
               WHERE f.job_id = p_job.id AND f.state IN ('open', 'retrying', 'exhausted'))
        AND NOT ledger.may_redrive(p_job) THEN
        UPDATE public.failed_jobs f SET retry_count = greatest(f.retry_count, 3,
            (ledger.policy('dlq_max_retries') #>> '{}')::integer)
        WHERE f.job_id = p_job.id AND f.state IN ('open', 'retrying', 'exhausted');
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.hold_letters(public.jobs) IS
    'a job that may not be sent again has no dead letter that looks as if it could be';
