-- seal_audit: put a root hash over all audit rows written since the last seal.
-- Only transactions that ended before every open one are covered, so a sealed set never grows.
CREATE OR REPLACE FUNCTION ledger.seal_audit(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, seal_id bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('seal_audit', 'sweeper', p_arg, '{}');
    v_last public.audit_seals;
    v_until bigint;
    v_found record;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('ledger.seal_audit', 1));
    PERFORM ledger.extend_partitions();
    SELECT * INTO v_last FROM public.audit_seals s ORDER BY s.id DESC LIMIT 1;
    v_until := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    SELECT count(*) AS rows, min(a.id) AS from_id, max(a.id) AS to_id,
        sha256(coalesce(v_last.root_hash, ''::bytea)
            || coalesce(string_agg(a.row_hash, ''::bytea ORDER BY a.tx, a.id), ''::bytea)) AS root
    INTO v_found
    FROM public.audit_events a
    WHERE a.tx >= coalesce(v_last.to_tx, 0) AND a.tx < v_until;
    IF v_found.rows = 0 THEN
        outcome := 'empty';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO public.audit_seals AS s (
        from_id, to_id, from_tx, to_tx, rows, root_hash, prev_seal, sealed_at)
    VALUES (v_found.from_id, v_found.to_id, coalesce(v_last.to_tx, 0), v_until, v_found.rows,
        v_found.root, v_last.root_hash, clock_timestamp())
    RETURNING s.id, s.rows INTO seal_id, n;
    outcome := 'won';
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.seal_audit(jsonb) IS
    'put a root hash over all audit rows written since the last seal';
