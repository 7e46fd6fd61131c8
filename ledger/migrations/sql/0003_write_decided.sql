-- write_decided: write what a person decided into the record of a conflict, at the revision they saw.
-- verdict is the loss, NULL when written: the record moved or is gone, a rule of the table, a field
-- its workflow does not own, a status that may not follow.
CREATE OR REPLACE FUNCTION ledger.write_decided(
    p_conflict public.conflicts, p_changes jsonb, p_revision_seen bigint, OUT verdict text,
    OUT detail jsonb, OUT before jsonb, OUT after jsonb, OUT revision text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_target public.targets := ledger.find_target(p_conflict.target);
    v_foreign text;
    v_written record;
BEGIN
    IF v_target.name IS NULL THEN
        verdict := 'rule_failed';
        detail := '{"needs": "the target to be registered"}';
        RETURN;
    END IF;
    v_foreign := (ledger.judge_fields(v_target, p_conflict.workflow, p_changes)).foreign_field;
    IF v_foreign IS NOT NULL THEN
        verdict := 'not_owner_of_field';
        detail := jsonb_build_object('field', v_foreign, 'workflow', p_conflict.workflow);
        RETURN;
    END IF;
    before := ledger.read_row(v_target, p_conflict.record_key, true);
    SELECT * INTO v_written FROM ledger.write_row(p_conflict.workflow, v_target,
        p_conflict.record_key, p_revision_seen, p_changes);
    verdict := CASE v_written.problem WHEN 'stale' THEN 'stale_version'
        WHEN 'lost_record' THEN 'stale_version' WHEN 'refused' THEN 'rule_failed'
        WHEN 'unreadable' THEN 'invalid' ELSE v_written.problem END;
    detail := v_written.detail;
    IF verdict IS NULL THEN
        after := v_written."row";
        revision := after ->> v_target.revision_column;
    ELSE
        detail := coalesce(detail, '{}') || jsonb_build_object('revision_seen', p_revision_seen,
            'revision', before -> v_target.revision_column);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.write_decided(public.conflicts, jsonb, bigint) IS
    'write what a person decided into the record of a conflict, at the revision they saw';
