-- lock_letter: bring a dead letter under lock with its key and job before it, in the one lock order.
-- Only who came this way gives a letter its job, so the number taken first keeps it from changing.
CREATE OR REPLACE FUNCTION ledger.lock_letter(
    INOUT p_call ledger.call, p_failed_job_id bigint, OUT letter public.failed_jobs,
    OUT job public.jobs
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_locked record;
    v_job text;
    v_from timestamptz := clock_timestamp();
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('ledger.letter:' || p_failed_job_id, 1));
    SELECT f.job_id INTO v_job FROM public.failed_jobs f WHERE f.id = p_failed_job_id;
    v_locked := ledger.lock_job(p_call, v_job);
    p_call := v_locked.p_call;
    job := v_locked.job;
    SELECT * INTO letter FROM public.failed_jobs f WHERE f.id = p_failed_job_id FOR UPDATE;
    p_call.lock_from := v_from;
    p_call.locked_at := clock_timestamp();
    p_call.workflow := letter.workflow_name;
END
$$;
COMMENT ON FUNCTION ledger.lock_letter(ledger.call, bigint) IS
    'bring a dead letter under lock with its key and job before it, in the one lock order';
