-- write_alerts: fire what a look found, end what it found no more.
-- An alert that fires on keeps its row, whether somebody took note of it or not. A warning somebody
-- took note of that becomes a page is a new alert: that person did not take note of this.
CREATE OR REPLACE FUNCTION ledger.write_alerts(
    p_check text, p_alerts jsonb, OUT fired integer, OUT resolved integer
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE public.alerts a SET state = 'resolved', resolved_at = v_now, version = a.version + 1
    WHERE a."check" = p_check AND a.state <> 'resolved' AND NOT EXISTS (
        SELECT 1 FROM jsonb_array_elements(p_alerts) g
        WHERE g ->> 'dedupe_key' = a.dedupe_key AND NOT (
            a.state = 'acked' AND a.severity = 'warn' AND g ->> 'severity' = 'page'));
    GET DIAGNOSTICS resolved = ROW_COUNT;
    INSERT INTO public.alerts AS a (
        "check", dedupe_key, severity, value, threshold, first_at, last_at)
    SELECT p_check, g ->> 'dedupe_key', g ->> 'severity', (g ->> 'value')::float8,
        (g ->> 'threshold')::float8, v_now, v_now
    FROM jsonb_array_elements(p_alerts) g
    ON CONFLICT ("check", dedupe_key) WHERE NOT (state = 'resolved') DO UPDATE SET
        value = excluded.value, threshold = excluded.threshold, last_at = excluded.last_at,
        version = a.version + (a.severity <> excluded.severity)::integer,
        severity = excluded.severity;
    GET DIAGNOSTICS fired = ROW_COUNT;
END
$$;
COMMENT ON FUNCTION ledger.write_alerts(text, jsonb) IS
    'fire what a look found, end what it found no more';
