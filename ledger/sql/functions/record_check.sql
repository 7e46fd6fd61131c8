-- record_check: one look of a monitor is over; its alerts and its proof of life are written here.
-- ok says that the look itself came to an end: only then do the alerts it lists fire and the others of
-- this check end, and only then is it alive. replay: the look that started then is recorded. A look
-- that started before the last recorded one came late: it is kept, and decides nothing.
-- Lock order: the check's row, then its alerts.
CREATE OR REPLACE FUNCTION ledger.record_check(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, fired integer, resolved integer, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('record_check', 'system', p_arg, '{
        "name": "text!", "started_at": "time!", "ok": "bool!", "matched": "id",
        "floor_seen": "id", "detail": "object", "alerts": "array", "host": "text"}');
    v_check public.checks;
    v_started timestamptz;
    v_alerts jsonb := jsonb_build_array();
    v_late boolean;
BEGIN
    IF v_call.refused IS NULL THEN
        v_alerts := coalesce(nullif(p_arg -> 'alerts', 'null'), '[]');
        v_call.detail := ledger.judge_alerts(v_alerts);
        IF v_call.detail IS NULL THEN
            v_call.lock_from := clock_timestamp();
            SELECT * INTO v_check FROM public.checks c WHERE c.name = p_arg ->> 'name' FOR UPDATE;
            v_call.locked_at := clock_timestamp();
            v_call.detail := CASE WHEN v_check.name IS NULL
                THEN '{"path": "name", "hint": "there is no such check"}'::jsonb END;
        END IF;
        IF v_call.detail IS NOT NULL THEN
            v_call.refused := ledger.audit(v_call, 'invalid', 'check:' || (p_arg ->> 'name'),
                '(none)', '(none)', 0, p_after => v_call.detail);
        END IF;
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_started := (p_arg ->> 'started_at')::timestamptz;
    v_late := EXISTS (SELECT 1 FROM public.check_runs c
                      WHERE c."check" = v_check.name AND c.started_at > v_started);
    INSERT INTO public.check_runs (
        "check", started_at, finished_at, ok, matched, floor_seen, detail)
    VALUES (v_check.name, v_started, clock_timestamp(), (p_arg ->> 'ok')::boolean,
        (p_arg ->> 'matched')::bigint, (p_arg ->> 'floor_seen')::bigint,
        nullif(p_arg -> 'detail', 'null'))
    ON CONFLICT DO NOTHING;
    outcome := CASE WHEN FOUND THEN 'won' ELSE 'replay' END;
    IF outcome = 'won' AND v_late THEN
        detail := '{"late": true}';
    ELSIF outcome = 'won' AND (p_arg ->> 'ok')::boolean THEN
        SELECT a.fired, a.resolved INTO fired, resolved
        FROM ledger.write_alerts(v_check.name, v_alerts) a;
        INSERT INTO public.liveness AS l (
            name, last_success_at, interval_seconds, jitter_seconds, host, report)
        VALUES ('check:' || v_check.name, clock_timestamp(), v_check.interval_seconds,
            v_check.jitter_seconds, coalesce(p_arg ->> 'host', ''),
            jsonb_build_object('matched', p_arg -> 'matched', 'fired', fired, 'resolved', resolved))
        ON CONFLICT (name) DO UPDATE SET
            last_success_at = excluded.last_success_at, host = excluded.host,
            interval_seconds = excluded.interval_seconds, report = excluded.report,
            jitter_seconds = excluded.jitter_seconds;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'check:' || v_check.name, '(none)',
        ledger.hash(v_alerts), (outcome = 'won')::integer, p_after => coalesce(detail,
            jsonb_build_object('ok', p_arg -> 'ok', 'fired', fired, 'resolved', resolved)));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.record_check(jsonb) IS
    'one look of a monitor is over; its alerts and its proof of life are written here';
