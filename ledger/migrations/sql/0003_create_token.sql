-- create_token: register the hash of a token for the HTTP door; the token itself never comes here.
CREATE OR REPLACE FUNCTION ledger.create_token(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, token_id bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('create_token', 'command', p_arg, '{
        "workflow": "text", "user_name": "text", "sha256": "text!", "scopes": "array",
        "note": "prose", "reason": "prose!"}');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    IF p_arg ->> 'sha256' !~ '^[0-9a-f]{64}$' THEN
        outcome := 'rule_failed';
        detail := '{"hint": "sha256 is the hash of the token, 64 hexadecimal digits"}';
    ELSIF (p_arg ->> 'workflow' IS NULL) = (p_arg ->> 'user_name' IS NULL) THEN
        outcome := 'rule_failed';
        detail := '{"hint": "a token belongs to one workflow or to one person"}';
    ELSIF p_arg ->> 'workflow' IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.workflows w
        WHERE w.name = p_arg ->> 'workflow' AND w.name NOT LIKE '(%') THEN
        outcome := 'rule_failed';
        detail := '{"hint": "no workflow of this name is registered"}';
    ELSIF jsonb_typeof(p_arg -> 'scopes') = 'array' AND EXISTS (
        SELECT 1 FROM jsonb_array_elements(p_arg -> 'scopes') s
        WHERE jsonb_typeof(s) <> 'string' OR s #>> '{}' !~ '^[a-z]+(:.+)?$') THEN
        outcome := 'rule_failed';
        detail := '{"path": "scopes", "hint": "a scope is a word such as jobs, or work:charge"}';
    ELSE
        v_call.lock_from := clock_timestamp();
        INSERT INTO public.api_keys AS k (workflow, user_name, sha256, scopes, note, created_by)
        VALUES (p_arg ->> 'workflow', p_arg ->> 'user_name', decode(p_arg ->> 'sha256', 'hex'),
            ARRAY(SELECT jsonb_array_elements_text(
                CASE jsonb_typeof(p_arg -> 'scopes') WHEN 'array' THEN p_arg -> 'scopes' ELSE '[]' END)),
            coalesce(p_arg ->> 'note', ''), v_call.actor)
        ON CONFLICT DO NOTHING RETURNING k.id INTO token_id;
        v_call.locked_at := clock_timestamp();
        outcome := 'won';
        IF token_id IS NULL THEN
            SELECT k.id INTO token_id FROM public.api_keys k
            WHERE k.sha256 = decode(p_arg ->> 'sha256', 'hex') AND k.revoked_at IS NULL
                AND k.workflow IS NOT DISTINCT FROM p_arg ->> 'workflow'
                AND k.user_name IS NOT DISTINCT FROM p_arg ->> 'user_name';
            outcome := CASE WHEN token_id IS NULL THEN 'rule_failed' ELSE 'replay' END;
            detail := CASE outcome WHEN 'rule_failed' THEN
                '{"hint": "this token was given to somebody else or revoked; make another"}'::jsonb
            END;
        END IF;
    END IF;
    outcome := ledger.audit(v_call, outcome, 'token:' || coalesce(token_id::text, '(none)'),
        '(none)', '(none)', (outcome = 'won')::integer,
        p_after => p_arg - 'sha256' - 'actor', p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.create_token(jsonb) IS
    'register the hash of a token for the HTTP door; the token itself never comes here';
