-- seal_hash: the root of one seal: over the seal before it, what the seal says, and every row it covers.
-- A seal covers the transactions from from_tx up to to_tx, of rows above floor_id. Where its cluster was
-- left, only up to the highest id sealed there: later rows of another cluster bear the same numbers.
-- One that closes covers the rest up to to_id.
CREATE OR REPLACE FUNCTION ledger.seal_hash(p_seal public.audit_seals, OUT rows bigint, OUT root bytea)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_known bigint;
    v_left boolean;
    v_to_tx bigint := CASE WHEN p_seal.closes THEN 9223372036854775807 ELSE p_seal.to_tx END;
    v_to_id bigint := 9223372036854775807;
BEGIN
    SELECT max(s.to_id) FILTER (WHERE NOT s.closes), bool_or(s.closes) INTO v_known, v_left
    FROM public.audit_seals s WHERE s.floor_id = p_seal.floor_id;
    IF p_seal.closes THEN
        v_to_id := p_seal.to_id;
    ELSIF v_left OR p_seal.cluster <> ledger.cluster() THEN
        v_to_id := v_known;
    END IF;
    SELECT count(*), sha256(coalesce(p_seal.prev_seal, ''::bytea)
        || convert_to(jsonb_build_array(p_seal.from_id, p_seal.to_id, p_seal.from_tx, p_seal.to_tx,
            p_seal.rows, p_seal.cluster, p_seal.floor_id, p_seal.closes,
            extract(epoch FROM p_seal.sealed_at))::text, 'UTF8')
        || coalesce(string_agg(c.row_hash, ''::bytea ORDER BY c.tx, c.id), ''::bytea))
    INTO rows, root
    FROM (
        SELECT a.row_hash, a.tx, a.id FROM public.audit_events a
        WHERE a.tx >= p_seal.from_tx AND a.tx < v_to_tx
            AND a.id > p_seal.floor_id AND a.id <= v_to_id
        UNION ALL
        SELECT a.row_hash, a.tx, a.id FROM public.audit_events a
        WHERE p_seal.closes AND a.tx < p_seal.from_tx AND a.id > v_known AND a.id <= v_to_id
    ) c;
END
$$;
COMMENT ON FUNCTION ledger.seal_hash(public.audit_seals) IS
    'the root of one seal: over the seal before it, what the seal says, and every row it covers';
