-- write_parked: write the newer content of a write key at the revision a person saw.
CREATE OR REPLACE FUNCTION ledger.write_parked(
    p_conflict public.conflicts, p_idem public.idem, p_item jsonb, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT revision text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_target public.targets;
    v_foreign text;
    v_written record;
BEGIN
    SELECT * INTO v_target FROM public.targets t WHERE t.name = p_item ->> 'target';
    v_foreign := (ledger.judge_fields(
        v_target, p_conflict.workflow, p_item -> 'changes')).foreign_field;
    IF v_foreign IS NOT NULL THEN
        verdict := 'not_owner_of_field';
        detail := jsonb_build_object('field', v_foreign);
        RETURN;
    END IF;
    SELECT * INTO v_written FROM ledger.write_row(p_conflict.workflow, v_target,
        p_item ->> 'record_key', (p_arg ->> 'revision_seen')::bigint, p_item -> 'changes');
    revision := v_written."row" ->> v_target.revision_column;
    detail := v_written.detail;
    verdict := CASE v_written.problem WHEN 'stale' THEN 'stale_version'
        WHEN 'refused' THEN 'rule_failed' WHEN 'unreadable' THEN 'invalid'
        ELSE v_written.problem END;
    IF verdict IS NULL THEN
        PERFORM ledger.finish_key(p_idem.idem_key, 'success', jsonb_build_object(
            'revision', revision::bigint, 'record', v_written."row"));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.write_parked(public.conflicts, public.idem, jsonb, jsonb) IS
    'write the newer content of a write key at the revision a person saw';
