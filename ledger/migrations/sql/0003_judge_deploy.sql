-- judge_deploy: why a deploy cannot be applied, NULL when it can. Deploys run one after the other, so
-- nothing said here changes before it is written.
CREATE OR REPLACE FUNCTION ledger.judge_deploy(p_arg jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_workflow text := p_arg ->> 'workflow';
    v_given text[] := ledger.key_fields(p_arg -> 'key_fields');
    v_field record;
    v_target public.targets;
    v_export jsonb := ledger.judge_export(p_arg);
BEGIN
    IF v_workflow LIKE '(%' THEN
        RETURN '{"hint": "names in brackets are the ledger''s own"}'::jsonb;
    ELSIF p_arg ->> 'db_role' = session_user THEN
        RETURN '{"hint": "db_role is the login of this workflow alone, not the program''s own"}'::jsonb;
    ELSIF v_export IS NOT NULL THEN
        RETURN v_export;
    END IF;
    FOR v_field IN
        SELECT f ->> 'target' AS target, f ->> 'field' AS field, count(*) AS times,
            bool_or(coalesce((f ->> 'exclusive')::boolean, true)) AS alone
        FROM jsonb_array_elements(p_arg -> 'fields') f GROUP BY 1, 2 ORDER BY 1, 2
    LOOP
        SELECT * INTO v_target FROM public.targets t WHERE t.name = v_field.target;
        IF v_target.name IS NULL THEN
            RETURN jsonb_build_object('target', v_field.target,
                'hint', 'no target of this name is registered');
        ELSIF v_field.times > 1 THEN
            RETURN jsonb_build_object('field', v_field.field, 'hint', 'this field is listed twice');
        ELSIF NOT v_target.external AND (
            v_field.field IN (v_target.pk_column, v_target.revision_column)
            OR ledger.column_type(v_target, v_field.field) IS NULL) THEN
            RETURN jsonb_build_object('field', v_field.field,
                'hint', 'the target has no such field that a workflow could write');
        ELSIF EXISTS (
            SELECT 1 FROM public.field_ownership o
            WHERE o.target = v_field.target AND o.field = v_field.field
                AND o.workflow <> v_workflow AND (o.exclusive OR v_field.alone)) THEN
            RETURN jsonb_build_object('field', v_field.field, 'hint', 'another workflow owns this '
                'field, and one of the two wants it alone; name it exclusive: false in both');
        ELSIF EXISTS (
            SELECT 1 FROM public.effects e JOIN public.key_specs s
                ON s.effect = e.name AND s.version = e.key_spec_version
            WHERE e.name = 'write:' || v_field.target || ':' || v_workflow
                AND s.fields <> v_given) THEN
            RETURN jsonb_build_object('target', v_field.target, 'hint',
                'its writes are keyed by other fields already; change them with add_key_spec');
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.judge_deploy(jsonb) IS
    'why a deploy cannot be applied, NULL when it can';
