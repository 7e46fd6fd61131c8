-- release_sweep_lock: the tick is over; proof of life is written here, as its last act.
-- Liveness moves only when the tick succeeded and its holder still holds the lock.
CREATE OR REPLACE FUNCTION ledger.release_sweep_lock(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('release_sweep_lock', 'sweeper', p_arg, '{
        "name": "text!", "token": "uuid!", "succeeded": "bool!", "report": "object",
        "interval_seconds": "int:1..604800", "jitter_seconds": "int:0..604800", "host": "text"}');
    v_lock public.sweep_locks;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_lock FROM public.sweep_locks l WHERE l.name = p_arg ->> 'name' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF v_lock.token IS DISTINCT FROM (p_arg ->> 'token')::uuid THEN
        outcome := 'lost_claim';
        detail := jsonb_build_object('holder', v_lock.holder, 'fence', v_lock.fence);
    ELSE
        UPDATE public.sweep_locks l SET
            token = NULL, holder = NULL, lease_expires_at = NULL,
            last_finished_at = clock_timestamp()
        WHERE l.name = v_lock.name;
        IF (p_arg ->> 'succeeded')::boolean THEN
            INSERT INTO public.liveness AS v (
                name, last_success_at, interval_seconds, jitter_seconds, host, report)
            VALUES (v_lock.name, clock_timestamp(),
                coalesce((p_arg ->> 'interval_seconds')::integer, 60),
                coalesce((p_arg ->> 'jitter_seconds')::integer, 15),
                coalesce(p_arg ->> 'host', ''), p_arg -> 'report')
            ON CONFLICT (name) DO UPDATE SET
                last_success_at = excluded.last_success_at,
                interval_seconds = excluded.interval_seconds,
                jitter_seconds = excluded.jitter_seconds, host = excluded.host,
                report = excluded.report;
        END IF;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome, 'tick:' || (p_arg ->> 'name'),
        coalesce(p_arg ->> 'token', '(none)'), coalesce(v_lock.token::text, '(none)'),
        (outcome = 'won')::integer, p_after => coalesce(detail, p_arg -> 'report'));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.release_sweep_lock(jsonb) IS
    'the tick is over; proof of life is written here, as its last act';
