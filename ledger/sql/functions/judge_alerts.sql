-- judge_alerts: what is wrong with the alerts a look lists, NULL when they can be written.
CREATE OR REPLACE FUNCTION ledger.judge_alerts(p_alerts jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_alert jsonb;
    v_at bigint;
    v_problem jsonb;
    v_keys text[] := ARRAY[]::text[];
BEGIN
    FOR v_alert, v_at IN SELECT a.value, a.ordinality - 1
                         FROM jsonb_array_elements(p_alerts) WITH ORDINALITY a LOOP
        IF jsonb_typeof(v_alert) <> 'object' THEN
            v_problem := '{"path": "", "hint": "an alert is an object"}';
        ELSE
            v_problem := coalesce(ledger.check_argument(v_alert, '{"dedupe_key": "text!",
                "severity": "enum:warn|page!", "value": "any", "threshold": "any"}'), (
                SELECT jsonb_build_object('path', n, 'hint', format(
                    '"%s" must be a number a double holds', n))
                FROM unnest('{value,threshold}'::text[]) n
                WHERE NOT ledger.is_double(v_alert -> n) LIMIT 1),
                CASE WHEN v_alert ->> 'dedupe_key' = ANY (v_keys)
                    THEN '{"path": "dedupe_key", "hint": "the look lists this one twice"}'::jsonb
                END);
            v_keys := v_keys || (v_alert ->> 'dedupe_key');
        END IF;
        IF v_problem IS NOT NULL THEN
            RETURN v_problem || jsonb_build_object('path',
                rtrim(format('alerts[%s].%s', v_at, v_problem ->> 'path'), '.'));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.judge_alerts(jsonb) IS
    'what is wrong with the alerts a look lists, NULL when they can be written';
