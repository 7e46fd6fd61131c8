-- lock_job: bring the key and then the job of an id under lock, in the one lock order.
CREATE OR REPLACE FUNCTION ledger.lock_job(
    INOUT p_call ledger.call, p_job_id text, OUT job public.jobs, OUT idem public.idem
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_key text;
BEGIN
    p_call.lock_from := clock_timestamp();
    SELECT j.idem_key INTO v_key FROM public.jobs j WHERE j.id = p_job_id;
    IF FOUND THEN
        SELECT * INTO idem FROM public.idem i WHERE i.idem_key = v_key FOR UPDATE;
        SELECT * INTO job FROM public.jobs j WHERE j.id = p_job_id FOR UPDATE;
    END IF;
    p_call.locked_at := clock_timestamp();
END
$$;
COMMENT ON FUNCTION ledger.lock_job(ledger.call, text) IS
    'bring the key and then the job of an id under lock, in the one lock order';
