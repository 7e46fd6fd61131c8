-- start_batch: begin the one running batch of a workflow, or take up the one that stopped.
-- won: a new batch. matched: this caller's own, or one whose lease ran out or that failed, with the
-- cursor to go on from. held_by_other: somebody works it.
CREATE OR REPLACE FUNCTION ledger.start_batch(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, batch_id bigint, owner_token uuid, last_cursor text,
    items_processed bigint, chunk_no integer, lease_expires_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('start_batch', 'workflow', p_arg,
        '{"workflow_name": "text", "owner_token": "uuid"}');
    v_batch public.batch_runs;
    v_token uuid;
BEGIN
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
    WHERE b.workflow_name = v_call.workflow AND b.guarded AND b.status IN ('running', 'failed')
        AND b.acked_at IS NULL
    ORDER BY (b.status = 'running') DESC, b.id DESC LIMIT 1 FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF v_batch.id IS NULL THEN
        INSERT INTO public.batch_runs AS b (
            workflow_name, status, guarded, owner_token, started_at, heartbeat_at,
            lease_expires_at)
        VALUES (v_call.workflow, 'running', true, v_token, clock_timestamp(), clock_timestamp(),
            clock_timestamp() + ledger.seconds('batch_lease_s'))
        RETURNING b.* INTO v_batch;
        outcome := 'won';
    ELSIF v_batch.owner_token = v_token AND v_batch.status = 'running' THEN
        outcome := 'matched';
        detail := '{"resumed": true}';
    ELSIF v_batch.status = 'running' AND v_batch.lease_expires_at > clock_timestamp() THEN
        outcome := 'held_by_other';
        detail := jsonb_build_object('lease_expires_at', v_batch.lease_expires_at);
    ELSE
        UPDATE public.batch_runs b SET
            status = 'running', owner_token = v_token, heartbeat_at = clock_timestamp(),
            lease_expires_at = clock_timestamp() + ledger.seconds('batch_lease_s'),
            completed_at = NULL, waiting_since = NULL, lock_version = b.lock_version + 1
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
        coalesce(v_batch.last_cursor, '(none)'), coalesce(v_batch.last_cursor, '(none)'),
        (outcome = 'won' OR detail ? 'taken_over')::integer, p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.start_batch(jsonb) IS
    'begin the one running batch of a workflow, or take up the one that stopped';
