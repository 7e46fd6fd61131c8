-- bury_job: a job that gave up is a dead letter; dying again re-opens the row that is there.
CREATE OR REPLACE FUNCTION ledger.bury_job(p_job public.jobs)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_max integer := (ledger.policy('dlq_max_retries') #>> '{}')::integer;
    v_cap integer := (ledger.policy('payload_cap_bytes') #>> '{}')::integer;
    v_size integer := octet_length(p_job.payload::text);
BEGIN
    UPDATE public.failed_jobs f SET
        state = CASE WHEN f.retry_count >= v_max THEN 'exhausted' ELSE 'open' END,
        error_message = p_job.last_error, error_node = p_job.error_node,
        failed_at = clock_timestamp(), waiting_since = clock_timestamp(),
        lock_version = f.lock_version + 1
    WHERE f.job_id = p_job.id AND f.state IN ('open', 'retrying', 'exhausted');
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO public.failed_jobs (
        workflow_name, item_key, job_id, effect, event, payload, payload_size, payload_sha256,
        payload_truncated, payload_ref, error_message, error_node, failed_at, waiting_since)
    VALUES (
        p_job.workflow, p_job.idem_key, p_job.id, p_job.effect, p_job.event,
        CASE WHEN v_size <= v_cap THEN p_job.payload END, v_size, p_job.body_sha256,
        v_size > v_cap, 'job:' || p_job.id, p_job.last_error, p_job.error_node,
        clock_timestamp(), clock_timestamp());
END
$$;
COMMENT ON FUNCTION ledger.bury_job(public.jobs) IS
    'a job that gave up is a dead letter; dying again re-opens the row that is there';
