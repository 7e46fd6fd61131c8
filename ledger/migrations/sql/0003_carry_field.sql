-- carry_field: carry out a decision on a lost write.
-- apply writes what the workflow attempted, merge what the person chose among the fields the workflow
-- owns, both only at the revision the person saw. A store outside is written by its workflow, which
-- reads the decision.
CREATE OR REPLACE FUNCTION ledger.carry_field(
    p_call ledger.call, p_conflict public.conflicts, p_idem public.idem, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT resolution jsonb, OUT revision text,
    OUT expected_hash text, OUT actual_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_decision text := p_arg ->> 'decision';
    v_target public.targets;
    v_changes jsonb := CASE v_decision WHEN 'merge' THEN p_arg -> 'changes'
                       WHEN 'apply' THEN p_conflict.attempted ELSE '{}' END;
    v_row jsonb;
    v_written record;
BEGIN
    SELECT * INTO v_target FROM public.targets t
    WHERE t.name = p_conflict.target AND NOT t.external AND NOT p_conflict.external;
    IF v_decision IN ('apply', 'merge') AND v_target.name IS NOT NULL THEN
        detail := to_jsonb((ledger.judge_fields(
            v_target, p_conflict.workflow, v_changes)).foreign_field);
        IF detail IS NOT NULL THEN
            verdict := 'not_owner_of_field';
            detail := jsonb_build_object('field', detail, 'workflow', p_conflict.workflow);
            RETURN;
        END IF;
        v_row := ledger.read_row(v_target, p_conflict.record_key, true);
        SELECT * INTO v_written FROM ledger.write_row(p_conflict.workflow, v_target,
            p_conflict.record_key, (p_arg ->> 'revision_seen')::bigint, v_changes);
        IF v_written.problem IS NOT NULL THEN
            verdict := CASE v_written.problem WHEN 'stale' THEN 'stale_version'
                WHEN 'refused' THEN 'rule_failed' WHEN 'unreadable' THEN 'invalid'
                ELSE v_written.problem END;
            detail := coalesce(v_written.detail, '{}') || jsonb_build_object(
                'revision_seen', p_arg -> 'revision_seen',
                'revision', v_row -> v_target.revision_column);
            expected_hash := ledger.hash(p_arg -> 'revision_seen');
            actual_hash := ledger.hash(v_row);
            RETURN;
        END IF;
        revision := v_written."row" ->> v_target.revision_column;
        expected_hash := ledger.hash(v_row);
        actual_hash := ledger.hash(v_written."row");
        v_row := v_written."row";
    ELSIF v_target.name IS NOT NULL THEN
        v_row := ledger.read_row(v_target, p_conflict.record_key, false);
    END IF;
    resolution := jsonb_build_object('changes', v_changes);
    IF v_target.name IS NULL AND v_decision IN ('apply', 'merge') THEN
        resolution := resolution || jsonb_build_object('delivery', 'pending')
            || ledger.deliver_decision(p_conflict, v_changes);
    END IF;
    IF p_idem.status <> 'review' THEN
        RETURN;
    ELSIF v_decision = 'resend' THEN
        UPDATE public.idem i SET status = 'pending' WHERE i.idem_key = p_idem.idem_key;
        PERFORM ledger.extend_key(p_idem.idem_key, '(database)');
    ELSE
        PERFORM ledger.finish_key(p_idem.idem_key, CASE v_decision WHEN 'keep' THEN 'skipped'
            WHEN 'abandon' THEN 'abandoned' ELSE 'success' END,
            jsonb_build_object('revision', (v_row ->> v_target.revision_column)::bigint,
                'record', v_row));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.carry_field(
    ledger.call, public.conflicts, public.idem, jsonb) IS 'carry out a decision on a lost write';
