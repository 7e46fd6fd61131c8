-- decide_batch: a person ends a stalled batch, or says that a failed one was seen.
CREATE OR REPLACE FUNCTION ledger.decide_batch(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, batch_id bigint, status text, lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_batch', 'human', p_arg, '{
        "batch_id": "id!", "lock_version": "id!", "reason": "prose",
        "decision": "enum:mark_failed|acknowledge!"}');
    v_batch public.batch_runs;
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
    v_call.workflow := v_batch.workflow_name;
    IF v_batch.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "batch_id", "hint": "there is no such batch"}';
    ELSIF v_batch.status = 'complete' OR v_batch.acked_at IS NOT NULL
        OR v_batch.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('status', v_batch.status, 'resolved_by', v_batch.acked_by,
            'resolved_at', v_batch.acked_at);
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSIF p_arg ->> 'decision' = 'acknowledge' AND v_batch.status <> 'failed' THEN
        outcome := 'bad_transition';
        detail := '{"hint": "only a failed batch is acknowledged; mark it failed first"}';
    ELSIF p_arg ->> 'decision' = 'mark_failed' AND (v_batch.status <> 'running'
        OR v_batch.lease_expires_at > clock_timestamp()) THEN
        outcome := 'bad_transition';
        detail := '{"hint": "the batch is not running, or its worker still holds it"}';
    ELSE
        UPDATE public.batch_runs b SET
            status = 'failed', waiting_since = NULL, acked_by = v_call.actor,
            acked_at = clock_timestamp(), completed_at = coalesce(b.completed_at, clock_timestamp()),
            last_error = coalesce(b.last_error, p_arg ->> 'reason'),
            lock_version = b.lock_version + 1
        WHERE b.id = v_batch.id;
        outcome := 'won';
    END IF;
    SELECT b.id, b.status, b.lock_version INTO batch_id, status, lock_version
    FROM public.batch_runs b WHERE b.id = v_batch.id;
    outcome := ledger.audit(v_call, outcome, 'batch:' || (p_arg ->> 'batch_id'),
        coalesce(v_batch.status, '(none)'), coalesce(status, '(none)'),
        (outcome = 'won')::integer,
        p_after => coalesce(detail, jsonb_build_object('decision', p_arg -> 'decision')),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_batch(jsonb) IS
    'a person ends a stalled batch, or says that a failed one was seen';
