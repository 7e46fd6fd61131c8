-- lock_conflict: bring a conflict under lock with its key and job before it, in the one lock order.
CREATE OR REPLACE FUNCTION ledger.lock_conflict(
    INOUT p_call ledger.call, p_conflict_id bigint, OUT conflict public.conflicts,
    OUT job public.jobs, OUT idem public.idem
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_key text;
    v_job text;
BEGIN
    p_call.lock_from := clock_timestamp();
    SELECT c.idem_key, c.job_id INTO v_key, v_job
    FROM public.conflicts c WHERE c.id = p_conflict_id;
    SELECT * INTO idem FROM public.idem i WHERE i.idem_key = v_key FOR UPDATE;
    SELECT * INTO job FROM public.jobs j WHERE j.id = v_job FOR UPDATE;
    SELECT * INTO conflict FROM public.conflicts c WHERE c.id = p_conflict_id FOR UPDATE;
    p_call.locked_at := clock_timestamp();
    p_call.workflow := conflict.workflow;
    p_call.workflow_version := conflict.workflow_version;
    p_call.execution_id := conflict.execution_id;
    p_call.instance := conflict.instance;
END
$$;
COMMENT ON FUNCTION ledger.lock_conflict(ledger.call, bigint) IS
    'bring a conflict under lock with its key and job before it, in the one lock order';
