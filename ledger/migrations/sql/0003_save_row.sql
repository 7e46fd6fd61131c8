-- save_row: write one registry row from JSON, guarded by its version and audited once.
-- Members left out (or null) stay as they are; in a new row they take their default. What the table's
-- own constraints refuse comes back as rule_failed with the constraint's name.
CREATE OR REPLACE FUNCTION ledger.save_row(
    p_call ledger.call, p_table text, p_key text, p_arg jsonb,
    OUT outcome ledger.outcome, OUT version bigint, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_given jsonb := (SELECT jsonb_object_agg(m.key, m.value) FROM jsonb_each(p_arg) m
        WHERE m.value <> 'null' AND m.key <> ALL ('{actor,reason,version}'));
    v_old jsonb;
    v_new jsonb;
    v_columns text := (SELECT string_agg(format('%I', k), ', ' ORDER BY k)
                       FROM jsonb_object_keys(v_given) k);
    v_name text;
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
            EXECUTE format('SELECT to_jsonb(t) FROM public.%I t WHERE t.%I = $1 FOR UPDATE',
                p_table, p_key) INTO v_old USING p_arg ->> p_key;
            EXIT WHEN v_old IS NOT NULL OR p_arg ->> 'version' IS NOT NULL;
            EXECUTE format(
                'INSERT INTO public.%1$I AS t (%2$s) SELECT %2$s'
                ' FROM jsonb_populate_record(NULL::public.%1$I, $1)'
                ' ON CONFLICT DO NOTHING RETURNING to_jsonb(t)', p_table, v_columns)
            INTO v_new USING v_given;
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
                ' WHERE t.%3$I = $2 RETURNING to_jsonb(t)', p_table, v_columns, p_key,
                CASE WHEN v_old ? 'version' THEN ', version = t.version + 1' ELSE '' END)
            INTO v_new USING v_given, p_arg ->> p_key;
        END IF;
    EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
        GET STACKED DIAGNOSTICS v_name = CONSTRAINT_NAME;
        v_new := NULL;
        outcome := 'rule_failed';
        detail := jsonb_build_object('constraint', v_name, 'hint', SQLERRM);
    END;
    version := (coalesce(v_new, v_old) ->> 'version')::bigint;
    outcome := ledger.audit(p_call, outcome, p_table || ':' || (p_arg ->> p_key),
        ledger.hash(v_old), ledger.hash(coalesce(v_new, v_old)), (outcome = 'won')::integer,
        p_before => v_old, p_after => coalesce(detail, v_new), p_reason => p_arg ->> 'reason');
END
$$;
COMMENT ON FUNCTION ledger.save_row(ledger.call, text, text, jsonb) IS
    'write one registry row from JSON, guarded by its version and audited once';
