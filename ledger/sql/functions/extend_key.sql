-- extend_key: an attempt was made, so the last possible retry and the key's life move on.
-- Both are kept an hour longer than needed, so that not each attempt writes the key and its indexes.
CREATE OR REPLACE FUNCTION ledger.extend_key(p_idem_key text, p_provider text)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_later timestamptz := v_now + interval '1 hour';
BEGIN
    UPDATE public.idem i SET
        last_possible_retry_at = greatest(i.last_possible_retry_at, v_later + p.retry_horizon),
        retain_until = greatest(i.retain_until,
            ledger.retain_until(p, v_later + p.retry_horizon))
    FROM public.providers p
    WHERE i.idem_key = p_idem_key AND p.name = p_provider
        AND (i.last_possible_retry_at < v_now + p.retry_horizon
            OR i.retain_until < ledger.retain_until(p, v_now + p.retry_horizon));
END
$$;
COMMENT ON FUNCTION ledger.extend_key(text, text) IS
    'an attempt was made, so the last possible retry and the key''s life move on';
