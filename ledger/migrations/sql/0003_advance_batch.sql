-- advance_batch: a chunk is done: move the cursor and count its items, once.
-- Guards: the token and the expected cursor. A replay of the last advance adds nothing.
CREATE OR REPLACE FUNCTION ledger.advance_batch(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, last_cursor text, items_processed bigint, chunk_no integer,
    lease_expires_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('advance_batch', 'workflow', p_arg, '{
        "batch_id": "id!", "owner_token": "uuid!", "expected_cursor": "any", "new_cursor": "any!",
        "n": "int:0..1000000000!"}');
    v_batch public.batch_runs;
    v_expected text := p_arg ->> 'expected_cursor';
    v_new text := p_arg ->> 'new_cursor';
    v_found text;
BEGIN
    IF v_call.refused IS NULL AND (v_new IS NULL OR v_new = v_expected) THEN
        v_call.detail := '{"path": "new_cursor",
            "hint": "give the cursor after this chunk; one that stays cannot be told from a repeat"}';
        v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
            p_after => v_call.detail);
    END IF;
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
    v_found := v_batch.last_cursor;
    IF v_batch.id IS NULL THEN
        outcome := 'lost_claim';
    ELSIF v_batch.workflow_name <> v_call.workflow THEN
        outcome := 'wrong_role';
        detail := '{"hint": "this batch belongs to another workflow"}';
        v_batch := NULL;
    ELSIF v_batch.owner_token IS DISTINCT FROM (p_arg ->> 'owner_token')::uuid
        OR v_batch.status <> 'running' THEN
        outcome := 'held_by_other';
        detail := jsonb_build_object('status', v_batch.status);
    ELSIF v_found = v_new THEN
        outcome := 'replay';
    ELSIF v_found IS DISTINCT FROM v_expected THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('expected_cursor', v_expected, 'last_cursor', v_found);
    ELSE
        UPDATE public.batch_runs b SET
            last_cursor = v_new, items_processed = b.items_processed + (p_arg ->> 'n')::bigint,
            chunk_no = b.chunk_no + 1, heartbeat_at = clock_timestamp(), waiting_since = NULL,
            lease_expires_at = clock_timestamp() + ledger.seconds('batch_lease_s'),
            lock_version = b.lock_version + 1
        WHERE b.id = v_batch.id RETURNING b.* INTO v_batch;
        outcome := 'won';
    END IF;
    last_cursor := v_batch.last_cursor;
    items_processed := v_batch.items_processed;
    chunk_no := v_batch.chunk_no;
    lease_expires_at := v_batch.lease_expires_at;
    outcome := ledger.audit(v_call, outcome, 'batch:' || (p_arg ->> 'batch_id'),
        coalesce(v_expected, '(none)'), coalesce(v_found, '(none)'), (outcome = 'won')::integer,
        p_after => coalesce(detail, jsonb_build_object('cursor', v_new, 'n', p_arg -> 'n')));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.advance_batch(jsonb) IS
    'a chunk is done: move the cursor and count its items, once';
