-- bury_job: a job that gave up is a dead letter; dying again re-opens the row that is there.
-- While retries are left the schedule tries it again; after that it waits for a person. A letter
-- counts no more retries than its job can have had: while a job is marked it is called used up.
CREATE OR REPLACE FUNCTION ledger.bury_job(p_job public.jobs)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_max integer := (ledger.policy('dlq_max_retries') #>> '{}')::integer;
    v_cap integer := (ledger.policy('payload_cap_bytes') #>> '{}')::integer;
    v_size integer := octet_length(coalesce(p_job.payload, 'null')::text);
    v_now timestamptz := clock_timestamp();
    v_next timestamptz := v_now + ledger.seconds('dlq_retry_s');
BEGIN
    UPDATE public.failed_jobs f SET
        state = CASE WHEN c.retries < v_max THEN 'open' ELSE 'exhausted' END,
        retry_count = c.retries,
        next_retry_at = CASE WHEN c.retries < v_max THEN v_next END,
        waiting_since = CASE WHEN c.retries >= v_max THEN v_now END,
        acked_at = NULL, acked_by = NULL, error_message = p_job.last_error,
        error_node = p_job.error_node, failed_at = v_now, lock_version = f.lock_version + 1
    FROM (SELECT l.id, least(l.retry_count, p_job.resends + 1) AS retries
          FROM public.failed_jobs l
          WHERE l.job_id = p_job.id AND l.state IN ('open', 'retrying', 'exhausted')) c
    WHERE f.id = c.id;
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO public.failed_jobs (
        workflow_name, item_key, job_id, effect, event, payload, payload_size, payload_sha256,
        payload_truncated, payload_ref, error_message, error_node, state, failed_at,
        next_retry_at, waiting_since)
    VALUES (
        p_job.workflow, p_job.idem_key, p_job.id, p_job.effect, p_job.event,
        CASE WHEN v_size <= v_cap THEN p_job.payload END, v_size, p_job.body_sha256,
        v_size > v_cap, 'job:' || p_job.id, p_job.last_error, p_job.error_node,
        CASE WHEN v_max > 0 THEN 'open' ELSE 'exhausted' END, v_now,
        CASE WHEN v_max > 0 THEN v_next END, CASE WHEN v_max = 0 THEN v_now END);
END
$$;
COMMENT ON FUNCTION ledger.bury_job(public.jobs) IS
    'a job that gave up is a dead letter; dying again re-opens the row that is there';
