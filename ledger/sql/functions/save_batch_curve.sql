-- save_batch_curve: what a measurement of batch sizes found for one table; each keeps its own row.
-- replay: the measurement of that moment is stored. rule_failed: a threshold that is not below its knee.
CREATE OR REPLACE FUNCTION ledger.save_batch_curve(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_batch_curve', 'command', p_arg, '{
        "table_name": "text!", "measured_at": "time!", "predicate": "prose!", "sample": "object!",
        "curve": "array!", "knee": "int:2..1000000", "threshold": "int:1..1000000"}');
    v_knee integer := CASE WHEN v_call.refused IS NULL THEN (p_arg ->> 'knee')::integer END;
    v_threshold integer := CASE WHEN v_call.refused IS NULL
        THEN (p_arg ->> 'threshold')::integer END;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    IF (v_knee IS NULL) <> (v_threshold IS NULL) OR v_threshold >= v_knee THEN
        outcome := 'rule_failed';
        detail := '{"path": "threshold", "hint": "give a knee with a threshold below it, or neither"}';
    ELSE
        INSERT INTO public.batch_curves (table_name, measured_at, predicate, sample, curve, knee,
            threshold, measured_by)
        VALUES (p_arg ->> 'table_name', (p_arg ->> 'measured_at')::timestamptz,
            p_arg ->> 'predicate', p_arg -> 'sample', p_arg -> 'curve', v_knee, v_threshold,
            v_call.actor)
        ON CONFLICT DO NOTHING;
        outcome := CASE WHEN FOUND THEN 'won' ELSE 'replay' END;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'batch_curves:' || (p_arg ->> 'table_name'),
        '(none)', ledger.hash(p_arg -> 'curve'), (outcome = 'won')::integer,
        p_after => coalesce(detail, p_arg - 'actor' - 'curve' - 'sample'));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_batch_curve(jsonb) IS
    'what a measurement of batch sizes found for one table; each keeps its own row';
