-- finish_batch: the batch is complete, or it failed and can be taken up from its cursor.
CREATE OR REPLACE FUNCTION ledger.finish_batch(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, status text, items_processed bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('finish_batch', 'workflow', p_arg, '{
        "batch_id": "id!", "owner_token": "uuid!", "status": "enum:complete|failed!",
        "error": "prose"}');
    v_batch public.batch_runs;
    v_was text;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_batch FROM public.batch_runs b
    WHERE b.id = (p_arg ->> 'batch_id')::bigint FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_was := v_batch.status;
    IF v_batch.workflow_name <> v_call.workflow THEN
        outcome := 'wrong_role';
        detail := '{"hint": "this batch belongs to another workflow"}';
        v_batch := NULL;
    ELSIF v_batch.owner_token IS DISTINCT FROM (p_arg ->> 'owner_token')::uuid THEN
        outcome := 'held_by_other';
    ELSIF v_batch.status = p_arg ->> 'status' THEN
        outcome := 'replay';
    ELSIF v_batch.status <> 'running' THEN
        outcome := 'held_by_other';
        detail := jsonb_build_object('status', v_batch.status);
    ELSE
        UPDATE public.batch_runs b SET
            status = p_arg ->> 'status', completed_at = clock_timestamp(),
            last_error = p_arg ->> 'error', lock_version = b.lock_version + 1,
            waiting_since = CASE WHEN p_arg ->> 'status' = 'failed' THEN clock_timestamp() END
        WHERE b.id = v_batch.id RETURNING b.* INTO v_batch;
        outcome := 'won';
    END IF;
    status := v_batch.status;
    items_processed := v_batch.items_processed;
    outcome := ledger.audit(v_call, outcome, 'batch:' || (p_arg ->> 'batch_id'),
        coalesce(v_was, '(none)'), coalesce(v_batch.status, '(none)'),
        (outcome = 'won')::integer, p_reason => left(p_arg ->> 'error', 2000));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.finish_batch(jsonb) IS
    'the batch is complete, or it failed and can be taken up from its cursor';
