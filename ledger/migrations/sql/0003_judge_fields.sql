-- judge_fields: the first field a workflow may not write here, and whether any field is sensitive.
CREATE OR REPLACE FUNCTION ledger.judge_fields(
    p_target public.targets, p_workflow text, p_changes jsonb,
    OUT foreign_field text, OUT sensitive boolean
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    foreign_field := (
        SELECT k FROM jsonb_object_keys(p_changes) k
        WHERE k IN (p_target.pk_column, p_target.revision_column)
            OR ledger.column_type(p_target, k) IS NULL
            OR NOT EXISTS (
                SELECT 1 FROM public.field_ownership o
                WHERE o.target = p_target.name AND o.field = k AND o.workflow = p_workflow)
        ORDER BY k LIMIT 1);
    sensitive := EXISTS (
        SELECT 1 FROM public.field_ownership o
        WHERE o.target = p_target.name AND o.sensitive AND p_changes ? o.field);
END
$$;
COMMENT ON FUNCTION ledger.judge_fields(public.targets, text, jsonb) IS
    'the first field a workflow may not write here, and whether any field is sensitive';
