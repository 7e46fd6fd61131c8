-- sign_archive_expiry: a person signs from when archived keys of a provider may be forgotten.
-- Refused when shorter than the provider's replay horizon with its margin.
CREATE OR REPLACE FUNCTION ledger.sign_archive_expiry(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('sign_archive_expiry', 'command', p_arg, '{
        "name": "text!", "expiry_seconds": "int:1..3155760000!", "reason": "prose!"}');
    v_old public.providers;
    v_expiry interval;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_expiry := make_interval(secs => (p_arg ->> 'expiry_seconds')::bigint);
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_old FROM public.providers p WHERE p.name = p_arg ->> 'name' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF v_old.name IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"hint": "no provider of this name is registered"}';
    ELSIF v_expiry < v_old.replay_horizon + v_old.retention_margin THEN
        outcome := 'rule_failed';
        detail := jsonb_build_object('hint', 'shorter than the replay horizon with its margin',
            'at_least_seconds', extract(epoch FROM v_old.replay_horizon + v_old.retention_margin));
    ELSIF v_old.archive_expiry = v_expiry THEN
        outcome := 'replay';
        version := v_old.version;
    ELSE
        UPDATE public.providers p SET
            archive_expiry = v_expiry, archive_signed_by = v_call.actor,
            archive_signed_at = clock_timestamp(), version = p.version + 1
        WHERE p.name = v_old.name RETURNING p.version INTO version;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome, 'providers:' || (p_arg ->> 'name'),
        coalesce(v_old.archive_expiry::text, '(none)'), v_expiry::text,
        (outcome = 'won')::integer, p_after => coalesce(detail, p_arg - 'actor'),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.sign_archive_expiry(jsonb) IS
    'a person signs from when archived keys of a provider may be forgotten';
