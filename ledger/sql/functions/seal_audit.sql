-- seal_audit: put a root hash over all audit rows written since the last seal.
-- Only transactions that ended before every open one are covered, so a sealed set never grows. The
-- first seal after a restore into another cluster closes the seals made before it.
CREATE OR REPLACE FUNCTION ledger.seal_audit(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, seal_id bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('seal_audit', 'sweeper', p_arg, '{}');
    v_last public.audit_seals;
    v_seal public.audit_seals;
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
    v_seal.cluster := ledger.cluster();
    v_seal.to_tx := ledger.open_since();
    IF NOT v_last.closes
        AND (v_last.cluster <> v_seal.cluster OR v_last.to_tx > v_seal.to_tx) THEN
        v_seal := ledger.close_seals(v_last);
        outcome := CASE WHEN v_seal.id IS NULL THEN 'empty' ELSE 'won' END;
        seal_id := v_seal.id;
        n := v_seal.rows;
        RETURN NEXT;
        RETURN;
    END IF;
    v_seal.closes := false;
    v_seal.floor_id := CASE WHEN v_last.closes THEN v_last.to_id
                       ELSE coalesce(v_last.floor_id, 0) END;
    v_seal.from_tx := CASE WHEN v_last.closes THEN 0 ELSE coalesce(v_last.to_tx, 0) END;
    v_seal.prev_seal := v_last.root_hash;
    v_seal.sealed_at := clock_timestamp();
    SELECT count(*), min(a.id), max(a.id) INTO v_seal.rows, v_seal.from_id, v_seal.to_id
    FROM public.audit_events a
    WHERE a.tx >= v_seal.from_tx AND a.tx < v_seal.to_tx AND a.id > v_seal.floor_id;
    IF v_seal.rows = 0 THEN
        outcome := 'empty';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO public.audit_seals AS s (
        from_id, to_id, from_tx, to_tx, rows, root_hash, cluster, floor_id, prev_seal, sealed_at)
    VALUES (v_seal.from_id, v_seal.to_id, v_seal.from_tx, v_seal.to_tx, v_seal.rows,
        (ledger.seal_hash(v_seal)).root, v_seal.cluster, v_seal.floor_id, v_seal.prev_seal,
        v_seal.sealed_at)
    RETURNING s.id, s.rows INTO seal_id, n;
    outcome := 'won';
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.seal_audit(jsonb) IS
    'put a root hash over all audit rows written since the last seal';
