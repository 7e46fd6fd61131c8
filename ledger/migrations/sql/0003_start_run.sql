-- start_run: an execution began; remember it, so that it can be looked up in the engine.
-- replay: the same run_id or the same execution again. With neither a repeat is a new run.
CREATE OR REPLACE FUNCTION ledger.start_run(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, run_id uuid, status text, deadline_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('start_run', 'workflow', p_arg, '{
        "run_id": "uuid", "external_execution_id": "text", "job_id": "text",
        "deadline_seconds": "int:1..31536000"}');
    v_run public.runs;
    v_external text;
    v_limit integer;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_external := coalesce(p_arg ->> 'external_execution_id', v_call.execution_id);
    v_limit := coalesce((p_arg ->> 'deadline_seconds')::integer,
        (SELECT w.max_runtime_seconds FROM public.workflows w WHERE w.name = v_call.workflow));
    v_call.lock_from := clock_timestamp();
    INSERT INTO public.runs AS r (
        id, workflow, job_id, instance, external_execution_id, started_at, deadline_at)
    VALUES (coalesce((p_arg ->> 'run_id')::uuid, gen_random_uuid()), v_call.workflow,
        p_arg ->> 'job_id', v_call.instance, v_external, clock_timestamp(),
        clock_timestamp() + make_interval(secs => v_limit))
    ON CONFLICT DO NOTHING RETURNING r.* INTO v_run;
    v_call.locked_at := clock_timestamp();
    outcome := CASE WHEN v_run.id IS NULL THEN 'replay' ELSE 'won' END;
    IF v_run.id IS NULL THEN
        SELECT * INTO v_run FROM public.runs r
        WHERE r.id = (p_arg ->> 'run_id')::uuid
            OR (r.instance = v_call.instance AND r.external_execution_id = v_external)
        ORDER BY (r.id = (p_arg ->> 'run_id')::uuid) DESC NULLS LAST LIMIT 1;
    END IF;
    IF v_run.workflow <> v_call.workflow THEN
        outcome := 'wrong_role';
        detail := '{"hint": "this run belongs to another workflow"}';
    ELSE
        run_id := v_run.id;
        status := v_run.status;
        deadline_at := v_run.deadline_at;
        detail := CASE WHEN v_external IS NULL AND p_arg ->> 'run_id' IS NULL
            THEN '{"unrepeatable": true}'::jsonb END;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'run:' || v_run.id, '(none)', '(none)',
        (outcome = 'won')::integer, p_job_id => p_arg ->> 'job_id', p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.start_run(jsonb) IS
    'an execution began; remember it, so that it can be looked up in the engine';
