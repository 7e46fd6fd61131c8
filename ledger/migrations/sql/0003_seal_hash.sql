-- seal_hash: the root of one seal: over the seal before it, what the seal says, and every row it covers.
CREATE OR REPLACE FUNCTION ledger.seal_hash(p_seal public.audit_seals, OUT rows bigint, OUT root bytea)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT count(*), sha256(coalesce(p_seal.prev_seal, ''::bytea)
        || convert_to(jsonb_build_array(p_seal.from_id, p_seal.to_id, p_seal.from_tx, p_seal.to_tx,
            p_seal.rows, extract(epoch FROM p_seal.sealed_at))::text, 'UTF8')
        || coalesce(string_agg(a.row_hash, ''::bytea ORDER BY a.tx, a.id), ''::bytea))
    INTO rows, root
    FROM public.audit_events a WHERE a.tx >= p_seal.from_tx AND a.tx < p_seal.to_tx;
END
$$;
COMMENT ON FUNCTION ledger.seal_hash(public.audit_seals) IS
    'the root of one seal: over the seal before it, what the seal says, and every row it covers';
