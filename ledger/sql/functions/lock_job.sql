-- lock_job: bring the key and then the job of an id under lock, in the one lock order.
CREATE OR REPLACE FUNCTION ledger.lock_job(
    INOUT p_call ledger.call, p_job_id text, OUT job public.jobs, OUT idem public.idem
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_locked record;
BEGIN
    p_call.lock_from := clock_timestamp();
    -- Both in one statement, the key first, as FOR UPDATE names them.
    SELECT i, j INTO v_locked
    FROM public.jobs j JOIN public.idem i ON i.idem_key = j.idem_key
    WHERE j.id = p_job_id FOR UPDATE OF i, j;
    IF FOUND THEN
        idem := v_locked.i;
        job := v_locked.j;
    ELSE  -- a job whose key is in the archive, or none
        SELECT * INTO job FROM public.jobs j WHERE j.id = p_job_id FOR UPDATE;
    END IF;
    p_call.locked_at := clock_timestamp();
END
$$;
COMMENT ON FUNCTION ledger.lock_job(ledger.call, text) IS
    'bring the key and then the job of an id under lock, in the one lock order';
