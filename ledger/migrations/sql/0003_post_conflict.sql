-- post_conflict: a workflow reports a lost write of a store this ledger cannot guard.
-- Stored as given, once per dedupe_key (by default: once per content), open at once; what a replay
-- brought is in its audit row. Nothing is refused for its content: what is no storable JSON arrives
-- as raw_base64 with parse_error, is kept byte for byte, and is an item without a key; so is what
-- nests too deep. The answer then says why it could not be read.
CREATE OR REPLACE FUNCTION ledger.post_conflict(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, conflict_id bigint, state text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_arg jsonb := ledger.keep_deep(p_arg);
    v_call ledger.call := ledger.admit('post_conflict', 'workflow', v_arg, '{
        "kind": "enum:stale_version|rule_failed|not_owner_of_field|bad_transition|lost_record|missing_key",
        "target": "text", "record_key": "any", "attempted": "any", "base": "any",
        "current": "any", "version_read": "any", "version_found": "any", "event": "any",
        "attempt": "int:1..1000000", "dedupe_key": "text", "sensitive": "bool",
        "raw_base64": "bytes", "parse_error": "prose"}');
    v_kind text := v_arg ->> 'kind';
    v_target text := v_arg ->> 'target';
    v_record text := v_arg ->> 'record_key';
    v_read text := v_arg ->> 'version_read';
    v_base jsonb := nullif(v_arg -> 'base', 'null');
    v_current jsonb := nullif(v_arg -> 'current', 'null');
    v_event jsonb := nullif(v_arg -> 'event', 'null');
    v_attempted jsonb := v_arg -> 'attempted';
    v_unread boolean := v_arg ->> 'parse_error' IS NOT NULL;
    v_identity jsonb;
    v_raised record;
    v_problem jsonb;
    v_body bytea;
    v_unreadable jsonb;
BEGIN
    IF v_call.refused IS NULL THEN
        v_problem := CASE
            WHEN v_unread AND NOT ledger.is_base64(v_arg ->> 'raw_base64')
                THEN '{"path": "raw_base64", "hint": "give the bytes in base64"}'::jsonb
            WHEN v_unread THEN NULL
            WHEN v_kind IS NULL THEN '{"path": "kind", "hint": "\"kind\" is required"}'
            WHEN v_target IS NULL AND v_kind <> 'missing_key'
                THEN '{"path": "target", "hint": "\"target\" is required"}'
            WHEN v_record IS NULL AND v_kind <> 'missing_key'
                THEN '{"path": "record_key", "hint": "\"record_key\" is required"}'
            WHEN v_read IS NULL AND v_kind = 'stale_version'
                THEN '{"path": "version_read", "hint": "say which version the workflow had read"}'
            WHEN NOT v_arg ? 'attempted'
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
    IF v_unread THEN
        v_body := decode(v_arg ->> 'raw_base64', 'base64');
        INSERT INTO public.payload_bodies (sha256, body, parse_error)
        VALUES (sha256(v_body), v_body, v_arg ->> 'parse_error') ON CONFLICT DO NOTHING;
        v_unreadable := jsonb_build_object('unreadable', v_arg -> 'parse_error',
            'body_sha256', encode(sha256(v_body), 'hex'), 'size', octet_length(v_body));
        v_kind := 'missing_key';
        v_attempted := '{"value": null}';
    ELSIF jsonb_typeof(v_attempted) <> 'object' THEN
        v_attempted := jsonb_build_object('value', v_attempted);
    END IF;
    IF length(v_record) > 255 THEN
        v_record := left(v_record, 180) || '#' || ledger.hash(to_jsonb(v_record));
    END IF;
    v_identity := CASE WHEN v_arg ->> 'dedupe_key' IS NULL
        THEN jsonb_build_array('posted', v_call.workflow, v_target, v_arg -> 'record_key',
            v_event, v_attempted, v_unreadable, v_arg -> 'attempt')
        ELSE jsonb_build_array('posted', v_call.workflow, v_arg -> 'dedupe_key') END;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_raised FROM ledger.raise_conflict(
        v_call, v_kind, 'open', ledger.hash(v_identity), ledger.hash(v_base),
        ledger.hash(v_current), v_attempted, p_target => v_target, p_record_key => v_record,
        p_base => v_base, p_current => v_current, p_version_read => v_read,
        p_version_found => v_arg ->> 'version_found',
        p_attempt => coalesce((v_arg ->> 'attempt')::integer, 1), p_event => v_event,
        p_sensitive => coalesce((v_arg ->> 'sensitive')::boolean, false), p_external => true,
        p_detail => v_unreadable);
    v_call.locked_at := clock_timestamp();
    conflict_id := v_raised.conflict_id;
    state := v_raised.state;
    outcome := ledger.audit(v_call, CASE WHEN v_raised.fresh THEN 'inserted' ELSE 'replay' END,
        '(none)', ledger.hash(v_base), ledger.hash(v_current), 0, p_target => v_target,
        p_record_key => v_record, p_conflict_id => conflict_id,
        p_after => CASE WHEN NOT v_raised.fresh THEN v_attempted END);
    detail := CASE WHEN v_unread THEN jsonb_build_object('reason', 'unreadable',
        'parse_error', v_arg -> 'parse_error',
        'hint', 'kept byte for byte for a person; nothing can be written from it') END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.post_conflict(jsonb) IS
    'a workflow reports a lost write of a store this ledger cannot guard';
