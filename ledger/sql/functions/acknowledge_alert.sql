-- acknowledge_alert: a person has seen an alert; it stays until what it tells of is over.
-- replay: somebody has seen it already, detail says who. rule_failed: it is over.
CREATE OR REPLACE FUNCTION ledger.acknowledge_alert(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, state text, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('acknowledge_alert', 'human', p_arg, '{
        "alert_id": "id!", "version": "id", "reason": "prose!"}');
    v_old public.alerts;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_old FROM public.alerts a
    WHERE a.id = (p_arg ->> 'alert_id')::bigint FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    state := v_old.state;
    version := v_old.version;
    IF v_old.id IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"path": "alert_id", "hint": "there is no such alert"}';
    ELSIF v_old.state = 'resolved' THEN
        outcome := 'rule_failed';
        detail := jsonb_build_object('why', 'it_is_over', 'resolved_at', v_old.resolved_at);
    ELSIF v_old.state = 'acked' THEN
        outcome := 'replay';
        detail := jsonb_build_object('acked_by', v_old.acked_by, 'acked_at', v_old.acked_at);
    ELSIF v_old.version <> (p_arg ->> 'version')::bigint THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('version', v_old.version, 'severity', v_old.severity);
    ELSE
        UPDATE public.alerts a SET
            state = 'acked', acked_by = v_call.actor, acked_at = clock_timestamp(),
            version = a.version + 1
        WHERE a.id = v_old.id AND a.state = 'firing'
        RETURNING a.state, a.version INTO state, version;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome, 'alert:' || (p_arg ->> 'alert_id'),
        coalesce(v_old.state, '(none)'), coalesce(state, '(none)'), (outcome = 'won')::integer,
        p_after => detail, p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.acknowledge_alert(jsonb) IS
    'a person has seen an alert; it stays until what it tells of is over';
