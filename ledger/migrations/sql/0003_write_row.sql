-- write_row: write some fields of a target's row at one revision; the row that stands afterwards.
-- problem: lost_record or stale (with row = what is there), bad_transition, refused (a constraint of
-- the table, in detail), unreadable (a value its column cannot hold). The row is locked already.
CREATE OR REPLACE FUNCTION ledger.write_row(
    p_workflow text, p_target public.targets, p_record_key text, p_revision bigint,
    p_changes jsonb, OUT "row" jsonb, OUT problem text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_columns text := (SELECT string_agg(format('%I', k), ', ' ORDER BY k)
                       FROM jsonb_object_keys(p_changes) k);
    v_values text := (SELECT string_agg(format('n.%I', k), ', ' ORDER BY k)
                      FROM jsonb_object_keys(p_changes) k);
    v_status text := p_target.status_column;
    v_machine text := p_target.name || '.' || v_status;
    v_constraint text;
    v_message text;
BEGIN
    "row" := ledger.read_row(p_target, p_record_key, true);
    IF "row" IS NULL THEN
        problem := 'lost_record';
    ELSIF ("row" ->> p_target.revision_column)::bigint <> p_revision THEN
        problem := 'stale';
    ELSIF p_changes ? v_status AND p_changes ->> v_status IS DISTINCT FROM "row" ->> v_status
        AND EXISTS (SELECT 1 FROM public.allowed_transitions t WHERE t.machine = v_machine)
        AND NOT EXISTS (
            SELECT 1 FROM public.allowed_transitions t
            WHERE t.machine = v_machine AND t.from_state = "row" ->> v_status
                AND t.to_state = p_changes ->> v_status AND t.workflow IN ('*', p_workflow)) THEN
        problem := 'bad_transition';
        detail := jsonb_build_object('from', "row" -> v_status, 'to', p_changes -> v_status,
            'allowed', (SELECT coalesce(jsonb_agg(t.to_state ORDER BY t.to_state), '[]')
                FROM public.allowed_transitions t
                WHERE t.machine = v_machine AND t.from_state = "row" ->> v_status));
    END IF;
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('ledger.workflow', p_workflow, true);
    BEGIN
        EXECUTE format(
            'UPDATE %s t SET (%s) = (SELECT %s FROM jsonb_populate_record(t, $1) n)'
            ' WHERE t.%I = $2::%s AND t.%I = $3 RETURNING to_jsonb(t)',
            p_target."table"::regclass, v_columns, v_values, p_target.pk_column,
            ledger.column_type(p_target, p_target.pk_column), p_target.revision_column)
        INTO "row" USING p_changes, p_record_key, p_revision;
    EXCEPTION
        WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS v_constraint = CONSTRAINT_NAME, v_message = MESSAGE_TEXT;
            problem := 'refused';
            detail := jsonb_build_object('constraint', v_constraint, 'hint', v_message);
        WHEN data_exception OR datatype_mismatch THEN
            GET STACKED DIAGNOSTICS v_message = MESSAGE_TEXT;
            problem := 'unreadable';
            detail := jsonb_build_object('path', 'changes', 'hint', v_message);
    END;
    PERFORM set_config('ledger.workflow', '', true);
END
$$;
COMMENT ON FUNCTION ledger.write_row(text, public.targets, text, bigint, jsonb) IS
    'write some fields of a target''s row at one revision; the row that stands afterwards';
