-- apply_deploy: register a workflow version together with the fields it may write: one act.
-- fields is the whole list: ownership left out is taken away. For each target the effect
-- write:<target>:<workflow> is made, keyed by the event's key_fields (default: id).
CREATE OR REPLACE FUNCTION ledger.apply_deploy(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('apply_deploy', 'command', p_arg, '{
        "workflow": "text!", "workflow_version": "text!", "fields": "array!", "reason": "prose!",
        "key_fields": "array", "n8n_workflow_id": "text", "db_role": "text",
        "decision_webhook": "prose", "editor_url": "prose", "sends_dominated": "bool",
        "max_runtime_seconds": "int:1..31536000"}');
    v_before jsonb;
    v_target text;
    v_name text;
BEGIN
    version := p_arg ->> 'workflow_version';
    IF v_call.refused IS NULL AND EXISTS (
        SELECT 1 FROM jsonb_array_elements(p_arg -> 'fields') f
        WHERE ledger.check_argument(
            CASE jsonb_typeof(f) WHEN 'object' THEN f ELSE '{}' END,
            '{"target": "text!", "field": "text!", "exclusive": "bool", "sensitive": "bool"}')
            IS NOT NULL) THEN
        v_call.detail := '{"path": "fields",
            "hint": "each entry is {target, field, exclusive?, sensitive?}"}';
        v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0);
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_before := (SELECT jsonb_agg(to_jsonb(o) ORDER BY o.target, o.field)
        FROM public.field_ownership o WHERE o.workflow = p_arg ->> 'workflow');
    BEGIN
        INSERT INTO public.workflows AS w (
            name, active_version, n8n_workflow_id, db_role, decision_webhook, editor_url,
            sends_dominated, max_runtime_seconds)
        VALUES (p_arg ->> 'workflow', version, p_arg ->> 'n8n_workflow_id', p_arg ->> 'db_role',
            p_arg ->> 'decision_webhook', p_arg ->> 'editor_url',
            coalesce((p_arg ->> 'sends_dominated')::boolean, false),
            (p_arg ->> 'max_runtime_seconds')::integer)
        ON CONFLICT (name) DO UPDATE SET
            active_version = excluded.active_version, db_role = excluded.db_role,
            n8n_workflow_id = excluded.n8n_workflow_id, editor_url = excluded.editor_url,
            decision_webhook = excluded.decision_webhook,
            sends_dominated = excluded.sends_dominated,
            max_runtime_seconds = excluded.max_runtime_seconds;
        DELETE FROM public.field_ownership o WHERE o.workflow = p_arg ->> 'workflow';
        INSERT INTO public.field_ownership (target, field, workflow, exclusive, sensitive)
        SELECT f ->> 'target', f ->> 'field', p_arg ->> 'workflow',
            coalesce((f ->> 'exclusive')::boolean, true),
            coalesce((f ->> 'sensitive')::boolean, false)
        FROM jsonb_array_elements(p_arg -> 'fields') f;
        FOR v_target IN SELECT DISTINCT f ->> 'target' FROM jsonb_array_elements(
            p_arg -> 'fields') f LOOP
            v_name := 'write:' || v_target || ':' || (p_arg ->> 'workflow');
            INSERT INTO public.effects (name, workflow, provider, kind)
            VALUES (v_name, p_arg ->> 'workflow', '(database)', 'replace')
            ON CONFLICT DO NOTHING;
            INSERT INTO public.key_specs (effect, version, mode, fields, canon)
            SELECT v_name, 1, 'event_id', k.fields, array_fill('raw'::text, ARRAY[k.n])
            FROM (SELECT array_agg(x) AS fields, count(*)::integer AS n
                  FROM jsonb_array_elements_text(coalesce(p_arg -> 'key_fields', '["id"]')) x) k
            ON CONFLICT DO NOTHING;
        END LOOP;
        outcome := 'won';
    EXCEPTION WHEN integrity_constraint_violation THEN
        GET STACKED DIAGNOSTICS v_name = CONSTRAINT_NAME;
        outcome := 'rule_failed';
        detail := jsonb_build_object('constraint', v_name, 'hint', CASE v_name
            WHEN 'field_ownership_one_exclusive_owner' THEN
                'another workflow owns one of these fields alone; name it exclusive: false in both'
            ELSE SQLERRM END);
    END;
    outcome := ledger.audit(v_call, outcome, 'workflow:' || (p_arg ->> 'workflow'),
        ledger.hash(v_before), ledger.hash(p_arg -> 'fields'), (outcome = 'won')::integer,
        p_before => v_before, p_after => p_arg - 'actor', p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.apply_deploy(jsonb) IS
    'register a workflow version together with the fields it may write: one act';
