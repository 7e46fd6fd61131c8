-- save_row: write one registry row from JSON, guarded by its version and audited once.
-- Members left out stay as they are (in a new row: take their default); null clears. p_stamps is
-- written along with a change and is none itself. What the table's own constraints refuse comes back
-- as rule_failed with the constraint's name, or the path of a member that cannot be cleared.
CREATE OR REPLACE FUNCTION ledger.save_row(
    p_call ledger.call, p_table text, p_key text[], p_arg jsonb, p_stamps jsonb,
    OUT outcome ledger.outcome, OUT version bigint, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_given jsonb := p_arg - '{actor,reason,version}'::text[];
    v_old jsonb;
    v_new jsonb;
    v_columns text := (SELECT string_agg(format('%I', k), ', ' ORDER BY k)
                       FROM jsonb_object_keys(v_given || p_stamps) k);
    v_row text := (SELECT string_agg(format('t.%1$I = $1 ->> %1$L', k), ' AND ')
                   FROM unnest(p_key) k);
    v_name text;
    v_column text;
BEGIN
    IF p_call.refused IS NOT NULL THEN
        outcome := p_call.refused;
        detail := p_call.detail;
        RETURN;
    END IF;
    p_call.lock_from := clock_timestamp();
    BEGIN
        -- A row that somebody else inserts between the two statements is found the second time.
        WHILE coalesce(v_old, v_new) IS NULL LOOP
            EXECUTE format('SELECT to_jsonb(t) FROM public.%I t WHERE %s FOR UPDATE',
                p_table, v_row) INTO v_old USING v_given;
            EXIT WHEN v_old IS NOT NULL OR p_arg ->> 'version' IS NOT NULL;
            EXECUTE format(
                'INSERT INTO public.%1$I AS t (%2$s) SELECT %2$s'
                ' FROM jsonb_populate_record(NULL::public.%1$I, $1)'
                ' ON CONFLICT DO NOTHING RETURNING to_jsonb(t)', p_table, v_columns)
            INTO v_new USING v_given || p_stamps;
        END LOOP;
        p_call.locked_at := clock_timestamp();
        IF v_new IS NULL AND v_old IS NOT NULL THEN
            EXECUTE format('SELECT to_jsonb(jsonb_populate_record(NULL::public.%I, $1))', p_table)
            INTO v_new USING v_old || v_given;
        END IF;
        outcome := CASE WHEN v_new IS NULL THEN 'stale_version'
            WHEN v_new = v_old THEN 'replay'
            WHEN (v_old ->> 'version')::bigint <> (p_arg ->> 'version')::bigint
                THEN 'stale_version'
            ELSE 'won' END;
        IF outcome = 'stale_version' THEN
            detail := jsonb_build_object('version', v_old -> 'version');
            v_new := NULL;
        END IF;
        IF outcome = 'won' AND v_old IS NOT NULL THEN
            EXECUTE format(
                'UPDATE public.%1$I t SET (%2$s) = (SELECT %2$s'
                ' FROM jsonb_populate_record(NULL::public.%1$I, $1))%4$s'
                ' WHERE %3$s RETURNING to_jsonb(t)', p_table, v_columns, v_row,
                CASE WHEN v_old ? 'version' THEN ', version = t.version + 1' ELSE '' END)
            INTO v_new USING v_given || p_stamps;
        END IF;
    EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
        GET STACKED DIAGNOSTICS v_name = CONSTRAINT_NAME, v_column = COLUMN_NAME;
        v_new := NULL;
        outcome := 'rule_failed';
        detail := CASE WHEN SQLSTATE = '23502'
            THEN jsonb_build_object('path', v_column, 'hint', format('"%s" is needed', v_column))
            ELSE jsonb_build_object('constraint', v_name, 'hint', SQLERRM) END;
    END;
    version := (coalesce(v_new, v_old) ->> 'version')::bigint;
    outcome := ledger.audit(p_call, outcome, p_table || ':'
        || (SELECT string_agg(v_given ->> k, '/' ORDER BY n) FROM unnest(p_key) WITH ORDINALITY u (k, n)),
        ledger.hash(v_old), ledger.hash(coalesce(v_new, v_old)), (outcome = 'won')::integer,
        p_before => v_old, p_after => coalesce(detail, v_new), p_reason => p_arg ->> 'reason');
END
$$;
COMMENT ON FUNCTION ledger.save_row(ledger.call, text, text[], jsonb, jsonb) IS
    'write one registry row from JSON, guarded by its version and audited once';
