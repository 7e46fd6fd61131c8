-- judge_export: why the export that a deploy was derived from is refused; NULL when it is not.
-- Whoever brings an export also says what the baselines of the new version begin with; a version
-- is one export for ever.
CREATE OR REPLACE FUNCTION ledger.judge_export(p_arg jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_workflow text := p_arg ->> 'workflow';
    v_version text := p_arg ->> 'workflow_version';
    v_anchor jsonb := coalesce(p_arg -> 'anchor', '{}');
    v_known public.workflow_deploys;
BEGIN
    IF p_arg ->> 'export_sha256' IS NULL THEN
        RETURN NULL;
    ELSIF p_arg ->> 'export_sha256' !~ '^[0-9a-f]{64}$' THEN
        RETURN '{"path": "export_sha256", "hint": "64 hexadecimal digits"}'::jsonb;
    END IF;
    SELECT * INTO v_known FROM public.workflow_deploys d
    WHERE d.workflow = v_workflow AND d.version = v_version;
    IF v_known.export_sha256 = p_arg ->> 'export_sha256' THEN
        RETURN NULL;
    ELSIF v_known.id IS NOT NULL THEN
        RETURN jsonb_build_object('path', 'workflow_version', 'hint',
            'another export was deployed as this version; give the next version');
    ELSIF coalesce(v_anchor ->> 'kind', '') NOT IN ('carry', 'seed', 'empty') THEN
        RETURN jsonb_build_object('path', 'anchor', 'hint', 'say what the baselines of this version '
            'begin with: carry, seed, or empty with a reason');
    ELSIF v_anchor ->> 'kind' = 'empty' AND coalesce(btrim(v_anchor ->> 'reason'), '') = '' THEN
        RETURN '{"path": "anchor", "hint": "empty is a decision and needs its reason"}'::jsonb;
    ELSIF v_anchor ->> 'kind' = 'carry' AND NOT EXISTS (
        SELECT 1 FROM public.workflows w
        WHERE w.name = v_workflow AND w.active_version <> v_version) THEN
        RETURN jsonb_build_object('path', 'anchor', 'hint',
            'there is no earlier version to carry from; seed it, or leave it empty with a reason');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.judge_export(jsonb) IS
    'why the export that a deploy was derived from is refused; NULL when it is not';
