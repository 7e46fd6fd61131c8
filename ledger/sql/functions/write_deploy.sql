-- write_deploy: write a deploy that judge_deploy found nothing against.
CREATE OR REPLACE FUNCTION ledger.write_deploy(p_arg jsonb, p_key_fields text[])
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_workflow text := p_arg ->> 'workflow';
    v_export text := p_arg ->> 'export_sha256';
    v_before text := (SELECT w.active_version FROM public.workflows w WHERE w.name = v_workflow);
BEGIN
    INSERT INTO public.workflows AS w (
        name, active_version, n8n_workflow_id, db_role, decision_webhook, editor_url,
        sends_dominated, max_runtime_seconds, export_sha256, exported_at)
    VALUES (v_workflow, p_arg ->> 'workflow_version', p_arg ->> 'n8n_workflow_id',
        p_arg ->> 'db_role', p_arg ->> 'decision_webhook', p_arg ->> 'editor_url',
        coalesce((p_arg ->> 'sends_dominated')::boolean, false),
        (p_arg ->> 'max_runtime_seconds')::integer, v_export,
        CASE WHEN v_export IS NOT NULL THEN clock_timestamp() END)
    ON CONFLICT (name) DO UPDATE SET
        active_version = excluded.active_version, db_role = excluded.db_role,
        n8n_workflow_id = excluded.n8n_workflow_id, editor_url = excluded.editor_url,
        decision_webhook = excluded.decision_webhook, sends_dominated = excluded.sends_dominated,
        max_runtime_seconds = excluded.max_runtime_seconds,
        export_sha256 = excluded.export_sha256,
        exported_at = CASE WHEN w.export_sha256 = excluded.export_sha256 THEN w.exported_at
            ELSE excluded.exported_at END;
    INSERT INTO public.workflow_deploys (
        workflow, version, export_sha256, deployed_by, check_report, anchor_statement)
    SELECT v_workflow, p_arg ->> 'workflow_version', v_export, p_arg ->> 'actor',
        coalesce(p_arg -> 'check_report', '{}'), (p_arg -> 'anchor')
            || CASE p_arg #>> '{anchor,kind}' WHEN 'carry'
                THEN jsonb_build_object('from_version', v_before) ELSE '{}' END
    WHERE v_export IS NOT NULL
    ON CONFLICT (workflow, version) DO NOTHING;
    INSERT INTO public.field_ownership (target, field, workflow, exclusive, sensitive)
    SELECT f ->> 'target', f ->> 'field', v_workflow, coalesce((f ->> 'exclusive')::boolean, true),
        coalesce((f ->> 'sensitive')::boolean, EXISTS (
            SELECT 1 FROM public.field_ownership o
            WHERE o.target = f ->> 'target' AND o.field = f ->> 'field' AND o.sensitive))
    FROM jsonb_array_elements(p_arg -> 'fields') f
    ON CONFLICT (target, field, workflow) DO UPDATE SET
        exclusive = excluded.exclusive, sensitive = excluded.sensitive;
    DELETE FROM public.field_ownership o
    WHERE o.workflow = v_workflow AND NOT EXISTS (
        SELECT 1 FROM jsonb_array_elements(p_arg -> 'fields') f
        WHERE f ->> 'target' = o.target AND f ->> 'field' = o.field);
    WITH made AS (
        INSERT INTO public.effects (name, workflow, provider, kind)
        SELECT DISTINCT 'write:' || (f ->> 'target') || ':' || v_workflow, v_workflow,
            '(database)', 'replace'
        FROM jsonb_array_elements(p_arg -> 'fields') f
        ON CONFLICT DO NOTHING RETURNING name
    )
    INSERT INTO public.key_specs (effect, version, mode, fields, canon)
    SELECT m.name, 1, 'event_id', p_key_fields,
        array_fill('raw'::text, ARRAY[cardinality(p_key_fields)]) FROM made m
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION ledger.write_deploy(jsonb, text[]) IS
    'write a deploy that judge_deploy found nothing against';
