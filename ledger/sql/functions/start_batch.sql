-- start_batch: begin the one running batch of a workflow, or take up the one that stopped.
-- won: a new batch, or this caller's own by its token. matched: one whose lease ran out or that
-- failed, with the cursor to go on from; a batch nobody finished is never begun anew.
-- held_by_other: somebody works it.
CREATE OR REPLACE FUNCTION ledger.start_batch(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, batch_id bigint, owner_token uuid, last_cursor text,
    items_processed bigint, chunk_no integer, lease_expires_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_arg jsonb := CASE WHEN jsonb_typeof(p_arg) = 'object' THEN
        jsonb_build_object('workflow', p_arg -> 'workflow_name') || p_arg ELSE p_arg END;
    v_call ledger.call := ledger.admit('start_batch', 'workflow', v_arg,
        '{"workflow_name": "text", "owner_token": "uuid"}');
    v_batch public.batch_runs;
    v_found text;
    v_token uuid;
BEGIN
    IF v_call.refused IS NULL AND p_arg ->> 'workflow_name' <> v_call.workflow THEN
        v_call.detail := '{"hint": "a workflow starts batches of its own; workflow_name is its name"}';
        v_call.refused := ledger.audit(v_call, 'wrong_role', '(none)', '(none)', '(none)', 0,
            p_after => v_call.detail);
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := coalesce((p_arg ->> 'owner_token')::uuid, gen_random_uuid());
    v_call.lock_from := clock_timestamp();
    PERFORM pg_advisory_xact_lock(hashtextextended('ledger.batch:' || v_call.workflow, 1));
    SELECT * INTO v_batch FROM public.batch_runs b
    WHERE b.workflow_name = v_call.workflow AND b.guarded
    ORDER BY (b.status = 'running') DESC, b.id DESC LIMIT 1 FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_found := v_batch.last_cursor;
    IF v_batch.id IS NULL OR v_batch.status = 'complete' THEN
        INSERT INTO public.batch_runs AS b (
            workflow_name, status, guarded, owner_token, started_at, heartbeat_at,
            lease_expires_at)
        VALUES (v_call.workflow, 'running', true, v_token, clock_timestamp(), clock_timestamp(),
            clock_timestamp() + ledger.seconds('batch_lease_s'))
        RETURNING b.* INTO v_batch;
        outcome := 'won';
    ELSIF v_batch.owner_token = v_token AND v_batch.status = 'running' THEN
        outcome := 'won';
        detail := '{"resumed": true}';
    ELSIF v_batch.status = 'running' AND v_batch.lease_expires_at > clock_timestamp() THEN
        outcome := 'held_by_other';
        detail := jsonb_build_object('lease_expires_at', v_batch.lease_expires_at);
    ELSE
        UPDATE public.batch_runs b SET
            status = 'running', owner_token = v_token, heartbeat_at = clock_timestamp(),
            lease_expires_at = clock_timestamp() + ledger.seconds('batch_lease_s'),
            completed_at = NULL, waiting_since = NULL, acked_at = NULL, acked_by = NULL,
            lock_version = b.lock_version + 1
        WHERE b.id = v_batch.id RETURNING b.* INTO v_batch;
        outcome := 'matched';
        detail := '{"taken_over": true}';
    END IF;
    batch_id := v_batch.id;
    lease_expires_at := v_batch.lease_expires_at;
    IF outcome <> 'held_by_other' THEN
        owner_token := v_batch.owner_token;
        last_cursor := v_batch.last_cursor;
        items_processed := v_batch.items_processed;
        chunk_no := v_batch.chunk_no;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'batch:' || v_batch.id,
        coalesce(v_found, '(none)'), coalesce(v_batch.last_cursor, '(none)'),
        (outcome <> 'held_by_other' AND detail -> 'resumed' IS NULL)::integer, p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.start_batch(jsonb) IS
    'begin the one running batch of a workflow, or take up the one that stopped';
