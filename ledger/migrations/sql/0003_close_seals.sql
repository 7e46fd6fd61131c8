-- close_seals: put everything that a restore brought, and no seal covers, under one last seal.
-- Needed once where the rows came into another cluster, whose transaction numbers begin anew: from
-- here on seals speak of later rows only, and those before of earlier ones. Guards: for this moment
-- nobody writes, so every row up to the highest id is there. NULL where somebody writes for longer:
-- the next call tries again.
CREATE OR REPLACE FUNCTION ledger.close_seals(p_last public.audit_seals)
RETURNS public.audit_seals LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' AS $$
DECLARE
    v_seal public.audit_seals;
BEGIN
    BEGIN
        LOCK TABLE public.audit_events IN SHARE MODE;
    EXCEPTION WHEN lock_not_available THEN
        RETURN NULL;
    END;
    v_seal.closes := true;
    v_seal.cluster := p_last.cluster;
    v_seal.floor_id := p_last.floor_id;
    v_seal.from_tx := p_last.to_tx;
    v_seal.to_tx := p_last.to_tx;
    v_seal.from_id := p_last.floor_id + 1;
    SELECT greatest(max(a.id), p_last.floor_id) INTO v_seal.to_id FROM public.audit_events a;
    v_seal.prev_seal := p_last.root_hash;
    v_seal.sealed_at := clock_timestamp();
    v_seal.rows := (ledger.seal_hash(v_seal)).rows;
    v_seal.root_hash := (ledger.seal_hash(v_seal)).root;  -- which covers what the seal says of rows
    INSERT INTO public.audit_seals AS s (
        from_id, to_id, from_tx, to_tx, rows, root_hash, cluster, floor_id, closes, prev_seal,
        sealed_at)
    VALUES (v_seal.from_id, v_seal.to_id, v_seal.from_tx, v_seal.to_tx, v_seal.rows,
        v_seal.root_hash, v_seal.cluster, v_seal.floor_id, true, v_seal.prev_seal, v_seal.sealed_at)
    RETURNING s.* INTO v_seal;
    RETURN v_seal;
END
$$;
COMMENT ON FUNCTION ledger.close_seals(public.audit_seals) IS
    'put everything that a restore brought, and no seal covers, under one last seal';
