-- save_row: write one registry row from JSON, guarded by its version and audited once.
-- What the table's own constraints refuse comes back as rule_failed with the constraint's name.
CREATE OR REPLACE FUNCTION ledger.save_row(
    p_call ledger.call, p_table text, p_key text, p_arg jsonb,
    OUT outcome ledger.outcome, OUT version bigint, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_given jsonb := jsonb_strip_nulls(p_arg) - '{actor,reason,version}'::text[];
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
    EXECUTE format('SELECT to_jsonb(t) FROM public.%I t WHERE t.%I = $1 FOR UPDATE',
        p_table, p_key) INTO v_old USING p_arg ->> p_key;
    p_call.locked_at := clock_timestamp();
    IF v_old ? 'version' AND p_arg ->> 'version' IS NOT NULL
        AND v_old ->> 'version' <> p_arg ->> 'version' THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('version', v_old -> 'version');
    ELSIF v_old @> v_given THEN
        outcome := 'replay';
    ELSE
        BEGIN
            SET CONSTRAINTS ALL IMMEDIATE;
            EXECUTE format(
                'INSERT INTO public.%1$I AS t (%2$s) SELECT %2$s'
                ' FROM jsonb_populate_record(NULL::public.%1$I, $1)'
                ' ON CONFLICT (%3$I) DO UPDATE SET (%2$s) = ROW (%4$s) %5$s RETURNING to_jsonb(t)',
                p_table, v_columns, p_key,
                (SELECT string_agg(format('excluded.%I', k), ', ' ORDER BY k)
                 FROM jsonb_object_keys(v_given) k),
                CASE WHEN v_old ? 'version' THEN ', version = t.version + 1' ELSE '' END)
            INTO v_new USING v_given;
            outcome := 'won';
        EXCEPTION WHEN integrity_constraint_violation OR undefined_table OR data_exception THEN
            GET STACKED DIAGNOSTICS v_name = CONSTRAINT_NAME;
            outcome := 'rule_failed';
            detail := jsonb_build_object('constraint', v_name, 'hint', SQLERRM);
        END;
    END IF;
    version := (coalesce(v_new, v_old) ->> 'version')::bigint;
    outcome := ledger.audit(p_call, outcome, p_table || ':' || (p_arg ->> p_key),
        ledger.hash(v_old), ledger.hash(coalesce(v_new, v_old)), (outcome = 'won')::integer,
        p_before => v_old, p_after => coalesce(v_new, detail), p_reason => p_arg ->> 'reason');
END
$$;
COMMENT ON FUNCTION ledger.save_row(ledger.call, text, text, jsonb) IS
    'write one registry row from JSON, guarded by its version and audited once';
