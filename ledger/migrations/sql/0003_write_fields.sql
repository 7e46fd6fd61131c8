-- write_fields: change some fields of a record, only if it still is at the revision that was read.
-- A loss is durable as a conflict before the answer leaves. Retry from a fresh read; the third lost
-- revision, a sensitive field, or anything a retry cannot heal opens it for a person.
-- Guards: key, conflicts of the key and record are locked in this order and read afterwards.
CREATE OR REPLACE FUNCTION ledger.write_fields(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, idem_key text, revision bigint, record jsonb, conflict_id bigint,
    conflict_state text, attempts_left integer, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('write_fields', 'workflow', p_arg, '{
        "target": "text!", "record_key": "text!", "expected_revision": "id!",
        "changes": "object!", "event": "object!", "depends_on": "array", "effect": "text",
        "attempt": "any"}');
    v_open record;
    v_attempt integer;
    v_expected_hash text;
    v_written record;
    v_fields record;
    v_before jsonb;
    v_found bigint;
    v_expected bigint;
    v_verdict text;
    v_changes jsonb;
    v_depends text[];
    v_status text;
    v_retried boolean := false;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_changes := p_arg -> 'changes';
    v_expected := (p_arg ->> 'expected_revision')::bigint;
    IF jsonb_typeof(p_arg -> 'depends_on') = 'array' THEN
        v_depends := ARRAY(SELECT jsonb_array_elements_text(p_arg -> 'depends_on'));
    END IF;
    v_open := ledger.open_write(v_call, p_arg);
    v_call := v_open.p_call;
    idem_key := v_open.idem_key;
    v_verdict := v_open.verdict;
    detail := v_open.detail;
    IF v_verdict = 'missing_key' THEN
        outcome := v_verdict;
        conflict_id := (detail ->> 'conflict_id')::bigint;
        RETURN NEXT;
        RETURN;
    END IF;
    IF v_verdict IS NULL THEN
        PERFORM 1 FROM public.conflicts c
        WHERE c.idem_key = v_open.idem_key AND c.state = 'detected' FOR UPDATE;
        v_retried := FOUND;
        v_before := ledger.read_row(v_open.target, p_arg ->> 'record_key', true);
        v_call.locked_at := clock_timestamp();
        v_found := (v_before ->> (v_open.target).revision_column)::bigint;
        v_status := (v_open.target).status_column;
        SELECT * INTO v_fields
        FROM ledger.judge_fields(v_open.target, v_call.workflow, v_changes);
        IF v_fields.foreign_field IS NOT NULL THEN
            v_verdict := 'not_owner_of_field';
            detail := jsonb_build_object('field', v_fields.foreign_field);
        ELSIF v_before IS NULL THEN
            v_verdict := 'lost_record';
        ELSIF v_found <> v_expected AND NOT (
            v_depends IS NOT NULL AND NOT v_fields.sensitive
            AND ledger.may_rebase(v_open.target, p_arg ->> 'record_key', v_expected, v_found,
                ARRAY(SELECT jsonb_object_keys(v_changes))
                || v_depends
                || CASE WHEN v_changes ? v_status THEN ARRAY[v_status] ELSE '{}' END)) THEN
            v_verdict := 'stale_version';
            detail := jsonb_build_object('version_read', v_expected, 'version_found', v_found);
        ELSE
            SELECT * INTO v_written FROM ledger.write_row(v_call.workflow, v_open.target,
                p_arg ->> 'record_key', v_found, v_changes);
            v_verdict := CASE v_written.problem WHEN 'bad_transition' THEN 'bad_transition'
                WHEN 'rule_failed' THEN 'rule_failed' WHEN 'refused' THEN 'rule_failed' WHEN 'unreadable' THEN 'invalid'
                ELSE CASE WHEN v_written.problem IS NULL THEN 'won' ELSE 'lost_record' END END;
            detail := v_written.detail;
        END IF;
        IF v_verdict = 'won' THEN
            record := v_written."row";
            revision := (record ->> (v_open.target).revision_column)::bigint;
            detail := CASE WHEN v_found <> v_expected
                THEN jsonb_build_object('rebased_from', v_expected) END;
            PERFORM ledger.finish_key(idem_key, 'success',
                jsonb_build_object('revision', revision, 'record', record));
            UPDATE public.conflicts c SET
                state = 'auto_resolved', resolved_at = clock_timestamp(),
                resolved_by = '(system)', reason = 'a later attempt won',
                resulting_revision = revision::text
            WHERE c.idem_key = v_open.idem_key AND c.state = 'detected';
        ELSIF v_verdict = 'invalid' THEN
            DELETE FROM public.idem i
            WHERE i.idem_key = v_open.idem_key AND NOT v_retried AND NOT EXISTS (
                SELECT 1 FROM public.conflicts c WHERE c.idem_key = i.idem_key);
        ELSE
            SELECT l.conflict_id, l.state, l.attempts_left, l.attempt, l.expected_hash
            INTO conflict_id, conflict_state, attempts_left, v_attempt, v_expected_hash
            FROM ledger.lose_write(v_call, p_arg, v_verdict, v_open.idem, v_open.target,
                v_before, v_fields.sensitive, detail) l;
        END IF;
    ELSIF v_verdict = 'replay' THEN
        record := ledger.stored_result(v_open.idem) -> 'record';
        revision := (ledger.stored_result(v_open.idem) ->> 'revision')::bigint;
    ELSE
        conflict_id := (detail ->> 'conflict_id')::bigint;
    END IF;
    outcome := ledger.audit(v_call, v_verdict, idem_key,
        coalesce(v_expected_hash, ledger.hash(v_before)),
        ledger.hash(coalesce(record, v_before)), (v_verdict = 'won')::integer,
        p_target => p_arg ->> 'target', p_record_key => p_arg ->> 'record_key',
        p_conflict_id => conflict_id, p_attempt => v_attempt,
        p_after_retry => v_retried,
        p_before => CASE WHEN v_verdict = 'won' THEN (
            SELECT jsonb_object_agg(k, v_before -> k) FROM jsonb_object_keys(v_changes) k) END,
        p_after => v_changes, p_reason => detail ->> 'hint');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.write_fields(jsonb) IS
    'change some fields of a record, only if it still is at the revision that was read';
