-- adopt_batch: a batch that was there before, with its number and cursor; one that ran has stalled.
CREATE OR REPLACE FUNCTION ledger.adopt_batch(p_row jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('adopt');
    v_status text := CASE WHEN p_row ->> 'status' IN ('running', 'complete') THEN p_row ->> 'status'
        ELSE 'failed' END;
BEGIN
    v_call.actor_kind := 'command';
    INSERT INTO public.batch_runs (
        id, workflow_name, last_cursor, items_processed, status, lease_expires_at, started_at,
        completed_at, last_error)
    VALUES ((p_row ->> 'id')::bigint, coalesce(p_row ->> 'workflow_name', '(sql)'),
        p_row ->> 'last_cursor', coalesce((p_row ->> 'items_processed')::bigint, 0), v_status,
        CASE v_status WHEN 'running' THEN clock_timestamp() END,
        coalesce((p_row ->> 'started_at')::timestamptz, clock_timestamp()),
        CASE WHEN v_status <> 'running'
            THEN coalesce((p_row ->> 'completed_at')::timestamptz, clock_timestamp()) END,
        p_row ->> 'last_error')
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'merged';
    END IF;
    PERFORM ledger.audit(v_call, 'inserted', 'batch:' || (p_row ->> 'id'), '(none)', v_status, 1);
    RETURN 'taken';
END
$$;
COMMENT ON FUNCTION ledger.adopt_batch(jsonb) IS
    'a batch that was there before, with its number and cursor; one that ran has stalled';
