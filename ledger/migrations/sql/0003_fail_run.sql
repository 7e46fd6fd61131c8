-- fail_run: the workflow itself says that its run failed.
-- already_terminal: the run ended before; what arrived late is kept as late_result and closes no job.
CREATE OR REPLACE FUNCTION ledger.fail_run(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, run_id uuid, status text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('fail_run', 'workflow', p_arg,
        '{"run_id": "uuid!", "error": "prose!"}');
BEGIN
    SELECT e.outcome, e.run_id, e.status, e.detail INTO outcome, run_id, status, detail
    FROM ledger.end_run(v_call, p_arg, 'failed') e;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.fail_run(jsonb) IS
    'the workflow itself says that its run failed';
