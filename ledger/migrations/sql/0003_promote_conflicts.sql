-- promote_conflicts: what waits longer than it should becomes visible in the queue.
-- A detected loss whose worker never came back opens. Stamped as waiting: a due job nobody takes, a
-- pending write key nobody finishes, a key past its life that something still holds, a batch whose
-- lease ran out. Any move of the row takes the stamp away again.
CREATE OR REPLACE FUNCTION ledger.promote_conflicts(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, opened bigint, stamped bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('promote_conflicts', 'sweeper', p_arg,
        '{"limit": "int:1..5000"}');
    v_conflict public.conflicts;
    v_limit integer;
    v_page interval;
    v_count bigint;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_limit := coalesce((p_arg ->> 'limit')::integer, 500);
    v_page := ledger.seconds('pending_page_s');
    opened := 0;
    stamped := 0;
    FOR v_conflict IN
        SELECT c.* FROM public.conflicts c
        WHERE c.state = 'detected'
            AND c.created_at < statement_timestamp() - ledger.seconds('detected_promote_s')
        ORDER BY c.created_at LIMIT v_limit
    LOOP
        opened := opened + ledger.open_conflict(v_call, v_conflict)::integer;
    END LOOP;
    WITH late AS (
        SELECT j.id FROM public.jobs j
        WHERE j.ready_at <= statement_timestamp() - v_page AND j.waiting_since IS NULL
        ORDER BY j.ready_at LIMIT v_limit FOR UPDATE SKIP LOCKED
    ), moved AS (
        UPDATE public.jobs j SET waiting_since = clock_timestamp() FROM late
        WHERE j.id = late.id RETURNING j.id, j.idem_key
    )
    SELECT count(ledger.audit(v_call, 'won', m.idem_key, '(none)', 'waiting', 1,
        p_job_id => m.id)) INTO v_count FROM moved m;
    stamped := stamped + v_count;
    WITH late AS (
        SELECT i.idem_key FROM public.idem i
        WHERE i.waiting_since IS NULL AND i.idem_key = ANY (
            ARRAY(
                SELECT p.idem_key FROM public.idem p
                WHERE p.status = 'pending' AND p.claimed_at < statement_timestamp() - v_page
                    AND p.job_id IS NULL AND p.waiting_since IS NULL AND NOT EXISTS (
                        SELECT 1 FROM public.conflicts c
                        WHERE c.idem_key = p.idem_key AND (c.state IN ('detected', 'open')
                            OR (c.state = 'resent'
                                AND c.resolved_at > statement_timestamp() - v_page)))
                ORDER BY p.claimed_at LIMIT v_limit)
            || ARRAY(
                SELECT c.idem_key FROM public.conflicts c
                JOIN public.idem d ON d.idem_key = c.idem_key
                WHERE c.state IN ('detected', 'open') AND d.waiting_since IS NULL
                    AND d.status = 'done' AND d.retain_until < statement_timestamp()
                LIMIT v_limit))
        ORDER BY i.claimed_at LIMIT v_limit FOR UPDATE SKIP LOCKED
    ), moved AS (
        UPDATE public.idem i SET waiting_since = clock_timestamp() FROM late
        WHERE i.idem_key = late.idem_key RETURNING i.idem_key
    )
    SELECT count(ledger.audit(v_call, 'won', m.idem_key, '(none)', 'waiting', 1))
    INTO v_count FROM moved m;
    stamped := stamped + v_count;
    WITH late AS (
        SELECT b.id FROM public.batch_runs b
        WHERE b.waiting_since IS NULL AND b.acked_at IS NULL AND (b.status = 'failed'
            OR (b.status = 'running' AND b.lease_expires_at < clock_timestamp()))
        ORDER BY b.id LIMIT v_limit FOR UPDATE SKIP LOCKED
    ), moved AS (
        UPDATE public.batch_runs b SET waiting_since = clock_timestamp() FROM late
        WHERE b.id = late.id RETURNING b.id
    )
    SELECT count(ledger.audit(v_call, 'won', 'batch:' || m.id, '(none)', 'waiting', 1))
    INTO v_count FROM moved m;
    stamped := stamped + v_count;
    n := opened + stamped;
    outcome := CASE WHEN n > 0 THEN 'won' ELSE 'empty' END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.promote_conflicts(jsonb) IS
    'what waits longer than it should becomes visible in the queue';
