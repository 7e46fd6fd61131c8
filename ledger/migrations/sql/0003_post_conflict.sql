-- post_conflict: a workflow reports a lost write of a store this ledger cannot guard.
-- Stored as given, once per dedupe_key, open at once. Nothing is refused for its content: what is no
-- storable JSON arrives as raw_base64 with parse_error and is kept byte for byte.
CREATE OR REPLACE FUNCTION ledger.post_conflict(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, conflict_id bigint, state text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('post_conflict', 'workflow', p_arg, '{
        "kind": "enum:stale_version|rule_failed|not_owner_of_field|bad_transition|lost_record|missing_key",
        "target": "text", "record_key": "any", "attempted": "any", "base": "any",
        "current": "any", "version_read": "any", "version_found": "any", "event": "any",
        "attempt": "int:1..1000000", "dedupe_key": "text", "sensitive": "bool",
        "raw_base64": "bytes", "parse_error": "prose"}');
    v_raised record;
    v_problem jsonb;
    v_body bytea;
    v_attempted jsonb;
BEGIN
    IF v_call.refused IS NULL THEN
        v_problem := CASE
            WHEN p_arg ? 'parse_error' AND NOT ledger.is_base64(p_arg ->> 'raw_base64')
                THEN '{"path": "raw_base64", "hint": "give the bytes in base64"}'::jsonb
            WHEN p_arg ? 'parse_error' THEN NULL
            WHEN p_arg ->> 'kind' IS NULL THEN '{"path": "kind", "hint": "\"kind\" is required"}'
            WHEN p_arg ->> 'target' IS NULL AND p_arg ->> 'kind' <> 'missing_key'
                THEN '{"path": "target", "hint": "\"target\" is required"}'
            WHEN p_arg ->> 'record_key' IS NULL AND p_arg ->> 'kind' <> 'missing_key'
                THEN '{"path": "record_key", "hint": "\"record_key\" is required"}'
            WHEN p_arg ->> 'version_read' IS NULL AND p_arg ->> 'kind' = 'stale_version'
                THEN '{"path": "version_read", "hint": "say which version the workflow had read"}'
            WHEN NOT p_arg ? 'attempted'
                THEN '{"path": "attempted", "hint": "\"attempted\" is required"}'
        END;
        IF v_problem IS NOT NULL THEN
            v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
                p_after => v_problem);
            v_call.detail := v_problem;
        END IF;
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_attempted := CASE jsonb_typeof(p_arg -> 'attempted') WHEN 'object' THEN p_arg -> 'attempted'
        ELSE jsonb_build_object('value', p_arg -> 'attempted') END;
    IF p_arg ? 'parse_error' THEN
        v_body := decode(p_arg ->> 'raw_base64', 'base64');
        INSERT INTO public.payload_bodies (sha256, body, parse_error)
        VALUES (sha256(v_body), v_body, p_arg ->> 'parse_error') ON CONFLICT DO NOTHING;
        v_attempted := jsonb_build_object('unreadable', p_arg -> 'parse_error',
            'body_sha256', encode(sha256(v_body), 'hex'), 'size', octet_length(v_body));
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_raised FROM ledger.raise_conflict(
        v_call, CASE WHEN p_arg ->> 'kind' <> 'stale_version' OR (p_arg ->> 'target' IS NOT NULL
            AND p_arg ->> 'record_key' IS NOT NULL AND p_arg ->> 'version_read' IS NOT NULL)
            THEN p_arg ->> 'kind' ELSE 'missing_key' END, 'open',
        coalesce('posted:' || v_call.workflow || ':' || (p_arg ->> 'dedupe_key'),
            ledger.hash(jsonb_build_array('posted', v_call.workflow, p_arg -> 'target',
                p_arg -> 'record_key', coalesce(p_arg -> 'event', v_attempted),
                p_arg -> 'attempt'))),
        ledger.hash(p_arg -> 'base'), ledger.hash(p_arg -> 'current'), v_attempted,
        p_target => p_arg ->> 'target', p_record_key => p_arg ->> 'record_key',
        p_base => p_arg -> 'base', p_current => p_arg -> 'current',
        p_version_read => p_arg ->> 'version_read', p_version_found => p_arg ->> 'version_found',
        p_attempt => coalesce((p_arg ->> 'attempt')::integer, 1), p_event => p_arg -> 'event',
        p_sensitive => coalesce((p_arg ->> 'sensitive')::boolean, false), p_external => true);
    v_call.locked_at := clock_timestamp();
    conflict_id := v_raised.conflict_id;
    state := v_raised.state;
    outcome := ledger.audit(v_call, CASE WHEN v_raised.fresh THEN 'inserted' ELSE 'replay' END,
        '(none)', ledger.hash(p_arg -> 'base'), ledger.hash(p_arg -> 'current'), 0,
        p_target => p_arg ->> 'target', p_record_key => p_arg ->> 'record_key',
        p_conflict_id => conflict_id);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.post_conflict(jsonb) IS
    'a workflow reports a lost write of a store this ledger cannot guard';
