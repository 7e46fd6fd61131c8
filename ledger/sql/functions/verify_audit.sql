-- verify_audit: every audit row and every seal, recomputed; one row per broken one, or empty.
-- With "newest", only so many of the last seals, and the rows from there on: what a page can wait for.
CREATE OR REPLACE FUNCTION ledger.verify_audit(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, problem text, event_id bigint, seal_id bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('verify_audit', 'command', p_arg,
        '{"newest": "int:1..1000000"}');
    v_seal public.audit_seals;
    v_before bytea;
    v_until bigint := 0;
    v_floor bigint := 0;
    v_found record;
    v_broken boolean := false;
    v_first public.audit_seals;
    v_from bigint := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := 'won';
    IF p_arg ->> 'newest' IS NOT NULL THEN
        SELECT * INTO v_first FROM public.audit_seals s WHERE s.id = (
            SELECT min(x.id) FROM (SELECT y.id FROM public.audit_seals y ORDER BY y.id DESC
                LIMIT (p_arg ->> 'newest')::integer) x);
        v_from := coalesce(v_first.from_id, 0);
        -- What the first one follows is taken as it is; a whole verification looks at that, too.
        v_before := v_first.prev_seal;
        v_until := coalesce(v_first.from_tx, 0);
        v_floor := coalesce(v_first.floor_id, 0);
    END IF;
    FOR event_id IN SELECT a.id FROM public.audit_events a
                    WHERE a.id >= v_from AND a.row_hash IS DISTINCT FROM ledger.audit_hash(a) LOOP
        problem := 'row_changed';
        v_broken := true;
        RETURN NEXT;
    END LOOP;
    event_id := NULL;
    FOR v_seal IN SELECT * FROM public.audit_seals s
                  WHERE s.id >= coalesce(v_first.id, 0) ORDER BY s.id LOOP
        SELECT * INTO v_found FROM ledger.seal_hash(v_seal);
        problem := CASE
            WHEN v_seal.prev_seal IS DISTINCT FROM v_before OR v_seal.from_tx <> v_until
                OR v_seal.floor_id <> v_floor
                THEN 'seal_missing_before'
            WHEN v_found.rows <> v_seal.rows THEN 'rows_missing_or_added'
            WHEN v_found.root <> v_seal.root_hash THEN 'seal_does_not_match'
        END;
        IF problem IS NOT NULL THEN
            v_broken := true;
            seal_id := v_seal.id;
            detail := jsonb_build_object('sealed_rows', v_seal.rows, 'found_rows', v_found.rows);
            RETURN NEXT;
        END IF;
        v_before := v_seal.root_hash;
        v_until := CASE WHEN v_seal.closes THEN 0 ELSE v_seal.to_tx END;
        v_floor := CASE WHEN v_seal.closes THEN v_seal.to_id ELSE v_seal.floor_id END;
    END LOOP;
    IF NOT v_broken THEN
        outcome := 'empty';
        problem := NULL;
        seal_id := NULL;
        SELECT jsonb_build_object('rows', count(*), 'seals', (SELECT count(*)
            FROM public.audit_seals s WHERE s.id >= coalesce(v_first.id, 0)))
        INTO detail FROM public.audit_events a WHERE a.id >= v_from;
        RETURN NEXT;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.verify_audit(jsonb) IS
    'every audit row and every seal, recomputed; one row per broken one, or empty';
