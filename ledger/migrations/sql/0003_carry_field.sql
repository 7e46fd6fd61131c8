-- carry_field: carry out a decision on a lost write.
-- apply writes what the workflow attempted, merge what the person chose among the fields the workflow
-- owns, both only at the revision the person saw. A store outside is written by its workflow, which
-- reads the decision. The key of the write ends with it; resend lets the workflow take it again.
CREATE OR REPLACE FUNCTION ledger.carry_field(
    p_call ledger.call, p_conflict public.conflicts, p_idem public.idem, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT resolution jsonb, OUT revision text,
    OUT expected_hash text, OUT actual_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_decision text := p_arg ->> 'decision';
    v_changes jsonb := CASE v_decision WHEN 'merge' THEN p_arg -> 'changes'
                       WHEN 'apply' THEN p_conflict.attempted ELSE '{}' END;
    v_target public.targets;
    v_row jsonb;
    v_written record;
BEGIN
    resolution := jsonb_build_object('changes', v_changes);
    IF v_decision IN ('apply', 'merge') AND p_conflict.external THEN
        resolution := resolution || jsonb_build_object('delivery', 'pending')
            || ledger.deliver_decision(p_conflict, v_changes);
    ELSIF v_decision IN ('apply', 'merge') THEN
        SELECT * INTO v_written FROM ledger.write_decided(
            p_conflict, v_changes, (p_arg ->> 'revision_seen')::bigint);
        verdict := v_written.verdict;
        detail := v_written.detail;
        revision := v_written.revision;
        v_row := v_written.after;
        expected_hash := ledger.hash(v_written.before);
        actual_hash := ledger.hash(coalesce(v_written.after, v_written.before));
        IF verdict IS NOT NULL THEN
            RETURN;
        END IF;
    ELSIF NOT p_conflict.external THEN
        v_target := ledger.find_target(p_conflict.target);
        IF v_target.name IS NOT NULL THEN
            v_row := ledger.read_row(v_target, p_conflict.record_key, false);
        END IF;
    END IF;
    IF p_idem.status = 'review' AND v_decision = 'resend' THEN
        UPDATE public.idem i SET status = 'pending' WHERE i.idem_key = p_idem.idem_key;
        PERFORM ledger.extend_key(p_idem.idem_key, '(database)');
    ELSIF p_idem.status = 'review' OR (p_idem.status = 'pending' AND v_decision = 'abandon') THEN
        PERFORM ledger.finish_key(p_idem.idem_key, CASE v_decision WHEN 'keep' THEN 'skipped'
            WHEN 'abandon' THEN 'abandoned' ELSE 'success' END, jsonb_build_object(
            'revision', coalesce(revision, v_row ->> v_target.revision_column)::bigint,
            'record', v_row));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.carry_field(
    ledger.call, public.conflicts, public.idem, jsonb) IS 'carry out a decision on a lost write';
