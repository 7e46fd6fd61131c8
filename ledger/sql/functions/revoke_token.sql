-- revoke_token: a token stops working at once; its row stays.
CREATE OR REPLACE FUNCTION ledger.revoke_token(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('revoke_token', 'command', p_arg,
        '{"token_id": "id!", "reason": "prose!"}');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    UPDATE public.api_keys k SET revoked_at = clock_timestamp()
    WHERE k.id = (p_arg ->> 'token_id')::bigint AND k.revoked_at IS NULL;
    outcome := CASE WHEN FOUND THEN 'won'
        WHEN EXISTS (SELECT 1 FROM public.api_keys k
                     WHERE k.id = (p_arg ->> 'token_id')::bigint) THEN 'replay'
        ELSE 'rule_failed' END;
    v_call.locked_at := clock_timestamp();
    detail := CASE outcome WHEN 'rule_failed' THEN '{"hint": "no such token"}'::jsonb END;
    outcome := ledger.audit(v_call, outcome, 'token:' || (p_arg ->> 'token_id'), '(none)',
        '(none)', (outcome = 'won')::integer, p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.revoke_token(jsonb) IS
    'a token stops working at once; its row stays';
