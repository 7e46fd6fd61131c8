-- extend_key: an attempt was made, so the last possible retry and the key's life move on.
CREATE OR REPLACE FUNCTION ledger.extend_key(p_idem_key text, p_provider text)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE public.idem i SET
        last_possible_retry_at = greatest(i.last_possible_retry_at,
            clock_timestamp() + p.retry_horizon),
        retain_until = greatest(i.retain_until,
            ledger.retain_until(p, clock_timestamp() + p.retry_horizon))
    FROM public.providers p
    WHERE i.idem_key = p_idem_key AND p.name = p_provider;
END
$$;
COMMENT ON FUNCTION ledger.extend_key(text, text) IS
    'an attempt was made, so the last possible retry and the key''s life move on';
