-- retain_until: how long a key lives, counted from the last moment somebody may still retry.
CREATE OR REPLACE FUNCTION ledger.retain_until(p_provider public.providers, p_last timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_last + greatest(p_provider.retry_horizon, p_provider.replay_horizon)
        + p_provider.retention_margin;
END
$$;
COMMENT ON FUNCTION ledger.retain_until(public.providers, timestamptz) IS
    'how long a key lives, counted from the last moment somebody may still retry';
