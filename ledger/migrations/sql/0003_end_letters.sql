-- end_letters: a job that is done, in review or abandoned has no living dead letter.
CREATE OR REPLACE FUNCTION ledger.end_letters(p_job_id text, p_op text)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE public.failed_jobs f SET
        state = 'resolved', resolved_by = '(system)', resolved_at = clock_timestamp(),
        reason = p_op, next_retry_at = NULL, waiting_since = NULL,
        lock_version = f.lock_version + 1
    WHERE f.job_id = p_job_id AND f.state IN ('open', 'retrying', 'exhausted');
END
$$;
COMMENT ON FUNCTION ledger.end_letters(text, text) IS
    'a job that is done, in review or abandoned has no living dead letter';
