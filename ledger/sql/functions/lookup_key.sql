-- lookup_key: what is known of an event's effect, live or archived; changes nothing.
CREATE OR REPLACE FUNCTION ledger.lookup_key(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, idem_key text, "where" text, status text, work_outcome text,
    effect_version integer, job_id text, result jsonb, http_status integer,
    claimed_at timestamptz, done_at timestamptz, retain_until timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('lookup_key', 'workflow', p_arg,
        '{"effect": "text!", "event": "object!"}');
    v_spec integer;
    v_key text;
    v_problem text;
    v_idem public.idem;
    v_archived public.idem_archive;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    FOR v_spec IN SELECT s.version FROM public.key_specs s WHERE s.effect = p_arg ->> 'effect'
                  ORDER BY s.version DESC LOOP
        SELECT d.idem_key, coalesce(v_problem, d.problem) INTO v_key, v_problem
        FROM ledger.derive_key(p_arg ->> 'effect', p_arg -> 'event', NULL, v_spec) d;
        idem_key := coalesce(idem_key, v_key);
        SELECT * INTO v_idem FROM public.idem i WHERE i.idem_key = v_key;
        EXIT WHEN FOUND;
        SELECT * INTO v_archived FROM public.idem_archive a WHERE a.idem_key = v_key;
        IF FOUND THEN
            v_idem := jsonb_populate_record(NULL::public.idem, to_jsonb(v_archived));
            EXIT;
        END IF;
    END LOOP;
    IF v_spec IS NULL THEN
        outcome := ledger.audit(v_call, 'unknown_effect', '(none)', '(none)', '(none)', 0);
    ELSIF idem_key IS NULL AND v_problem = 'malformed' THEN
        outcome := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0);
        detail := '{"path": "event", "hint": "the key has control characters or is too long"}';
    ELSIF idem_key IS NULL THEN
        outcome := ledger.audit(v_call, 'missing_key', '(none)', '(none)', '(none)', 0);
        detail := '{"hint": "the event lacks a field of this effect''s key"}';
    ELSIF v_idem.idem_key IS NULL THEN
        outcome := 'empty';
    ELSIF v_idem.workflow <> v_call.workflow THEN
        outcome := ledger.audit(v_call, 'wrong_role', v_idem.idem_key, '(none)', '(none)', 0);
        idem_key := NULL;
    ELSE
        outcome := 'won';
        idem_key := v_idem.idem_key;
        "where" := CASE WHEN v_archived.idem_key IS NULL THEN 'live' ELSE 'archive' END;
        status := v_idem.status;
        work_outcome := v_idem.outcome;
        effect_version := v_idem.effect_version;
        job_id := v_idem.job_id;
        result := ledger.stored_result(v_idem);
        http_status := v_idem.http_status;
        claimed_at := v_idem.claimed_at;
        done_at := v_idem.done_at;
        retain_until := v_idem.retain_until;
        IF "where" = 'archive' THEN
            PERFORM ledger.audit(v_call, 'won', v_idem.idem_key, v_idem.payload_hash,
                v_idem.payload_hash, 0);
        END IF;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.lookup_key(jsonb) IS
    'what is known of an event''s effect, live or archived; changes nothing';
