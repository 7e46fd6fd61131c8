-- record_access: what happened at a closed door, or to how a person logs in, as one audit row.
-- A refusal is wrong_role, a change won, and so is what was taken away or seen of the archive; nothing
-- but the audit is written. Guards: one attempt is one row, however often its answer is lost; and
-- nobody fills the audit by knocking: beyond policy refusals_per_minute of one name a refusal is
-- answered replay and not written, and the last one written says so. The lock of the name makes both
-- exact.
CREATE OR REPLACE FUNCTION ledger.record_access(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('record_access', 'human', p_arg, '{
        "attempt_id": "uuid!", "event": "enum:right_missing|second_factor_missing|login_failed|locked_out|code_wrong|second_factor_added|second_factor_removed|second_factor_reset|recovery_codes_made|recovery_code_used|audit_exported|archived_result_seen!",
        "right": "text", "page": "text", "address": "text", "subject": "text", "reason": "prose"}');
    v_key text := left('access:' || coalesce(p_arg ->> 'subject', p_arg ->> 'actor'), 400);
    v_refusal boolean := p_arg ->> 'event' IN
        ('right_missing', 'second_factor_missing', 'login_failed', 'locked_out', 'code_wrong');
    v_limit numeric := (ledger.policy('refusals_per_minute') #>> '{}')::numeric;
    v_refused bigint;
    v_known boolean;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    PERFORM pg_advisory_xact_lock(hashtextextended('ledger.' || v_key, 1));
    v_call.locked_at := clock_timestamp();
    SELECT count(*) FILTER (WHERE e.outcome = 'wrong_role'),
        coalesce(bool_or(e.after ->> 'attempt_id' = p_arg ->> 'attempt_id'), false)
    INTO v_refused, v_known
    FROM public.audit_events e
    WHERE e.key = v_key AND e.op = 'record_access'
        AND e.at > v_call.locked_at - interval '1 minute';
    IF v_known OR (v_refusal AND v_refused >= v_limit) THEN
        outcome := 'replay';
        detail := jsonb_build_object('why', CASE WHEN v_known THEN 'recorded_before'
            ELSE 'too_many_in_a_minute' END);
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := CASE
        WHEN v_refusal THEN 'wrong_role'
        WHEN p_arg ->> 'event' = 'second_factor_reset' AND
            (ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL OR p_arg ->> 'subject' IS NULL)
            THEN 'rule_failed'
        ELSE 'won'
    END;
    detail := CASE WHEN outcome = 'rule_failed' THEN '{"needs": "reason and subject"}'::jsonb END;
    outcome := ledger.audit(v_call, outcome, v_key, '(none)', '(none)',
        (outcome = 'won')::integer, p_reason => p_arg ->> 'reason',
        p_after => p_arg - 'actor' - 'reason' || CASE WHEN v_refusal AND v_refused + 1 >= v_limit
            THEN '{"more_are_not_written": true}'::jsonb ELSE '{}' END);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.record_access(jsonb) IS
    'what happened at a closed door, or to how a person logs in, as one audit row';
