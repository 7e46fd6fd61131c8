-- write_row: write some fields of a target's row at one revision; the row that stands afterwards.
-- problem: lost_record or stale (with row = what is there), bad_transition, rule_failed (a registered
-- rule, which locks what it reads first; in detail), refused (the table said no:
-- a constraint, also a deferred one, or a trigger of its own; in detail), unreadable (a value its
-- column cannot hold). The row is locked already. What says nothing about the write (a deadlock, a
-- server going down) is raised on.
CREATE OR REPLACE FUNCTION ledger.write_row(
    p_workflow text, p_target public.targets, p_record_key text, p_revision bigint,
    p_changes jsonb, OUT "row" jsonb, OUT problem text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET intervalstyle = 'postgres' SET extra_float_digits = 1 AS $$
#variable_conflict use_column
DECLARE
    v_columns text := (SELECT string_agg(format('%I', k), ', ' ORDER BY k)
                       FROM jsonb_object_keys(p_changes) k);
    v_values text := (SELECT string_agg(format('n.%I', k), ', ' ORDER BY k)
                      FROM jsonb_object_keys(p_changes) k);
    v_status text := p_target.status_column;
    v_machine text := p_target.name || '.' || v_status;
    v_deferred text;
    v_rows integer;
    v_constraint text;
    v_rules record;
BEGIN
    "row" := ledger.read_row(p_target, p_record_key, true);
    IF "row" IS NULL THEN
        problem := 'lost_record';
    ELSIF ("row" ->> p_target.revision_column)::bigint IS DISTINCT FROM p_revision THEN
        problem := 'stale';
    ELSIF p_changes ? v_status AND p_changes ->> v_status IS DISTINCT FROM "row" ->> v_status
        AND EXISTS (SELECT 1 FROM public.allowed_transitions t WHERE t.machine = v_machine)
        AND NOT EXISTS (
            SELECT 1 FROM public.allowed_transitions t
            WHERE t.machine = v_machine AND t.from_state = "row" ->> v_status
                AND t.to_state = p_changes ->> v_status AND t.workflow IN ('*', p_workflow)) THEN
        problem := 'bad_transition';
        detail := jsonb_build_object('from', "row" -> v_status, 'to', p_changes -> v_status,
            'allowed', (SELECT coalesce(jsonb_agg(DISTINCT t.to_state), '[]')
                FROM public.allowed_transitions t
                WHERE t.machine = v_machine AND t.from_state = "row" ->> v_status
                    AND t.workflow IN ('*', p_workflow)));
    END IF;
    IF problem IS NULL THEN
        SELECT * INTO v_rules FROM ledger.run_rules(p_target, "row", p_changes);
        IF v_rules.failed IS NOT NULL THEN
            problem := 'rule_failed';
            detail := jsonb_build_object('rule', v_rules.failed,
                'inputs', v_rules.inputs -> v_rules.failed);
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    v_deferred := (SELECT string_agg(DISTINCT format('%I.%I', n.nspname, c.conname), ', ')
        FROM pg_trigger g JOIN pg_constraint c ON c.oid = g.tgconstraint
        JOIN pg_namespace n ON n.oid = c.connamespace
        WHERE g.tgrelid = p_target."table"::regclass AND g.tginitdeferred);
    PERFORM set_config('ledger.writer', ledger.writer_mark(
        p_workflow, p_target.name, p_record_key) || ' ' || p_workflow, true);
    BEGIN
        EXECUTE format(
            'UPDATE %s t SET (%s) = (SELECT %s FROM jsonb_populate_record(t, $1) n)'
            ' WHERE t.%I = $2::%s AND t.%I = $3 RETURNING to_jsonb(t)',
            p_target."table"::regclass, v_columns, v_values, p_target.pk_column,
            ledger.column_type(p_target, p_target.pk_column), p_target.revision_column)
        INTO "row" USING p_changes, p_record_key, p_revision;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        IF v_rows <> 1 THEN
            RAISE EXCEPTION 'the table changed % rows instead of one', v_rows;
        END IF;
        IF v_deferred IS NOT NULL THEN
            EXECUTE format('SET CONSTRAINTS %s IMMEDIATE', v_deferred);
            EXECUTE format('SET CONSTRAINTS %s DEFERRED', v_deferred);
        END IF;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF left(SQLSTATE, 2) IN ('08', '25', '40', '53', '55', '57', '58', 'XX') THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_constraint = CONSTRAINT_NAME;
        problem := CASE WHEN left(SQLSTATE, 2) IN ('22', '54') OR SQLSTATE = '42804'
            THEN 'unreadable' ELSE 'refused' END;
        detail := CASE problem WHEN 'refused' THEN jsonb_build_object('constraint', v_constraint)
            ELSE '{"path": "changes"}' END || jsonb_build_object('hint', SQLERRM);
    END;
    PERFORM set_config('ledger.writer', '', true);
END
$$;
COMMENT ON FUNCTION ledger.write_row(text, public.targets, text, bigint, jsonb) IS
    'write some fields of a target''s row at one revision; the row that stands afterwards';
