-- lane_free: whether a job is next in its serial lane; holds the lane until the transaction ends.
-- Jobs of one serial key run one at a time, in the order they were entered. It never waits, because
-- its caller holds keys already: a lane that somebody else is looking at counts as busy.
CREATE OR REPLACE FUNCTION ledger.lane_free(p_serial_key text, p_created_at timestamptz)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_serial_key IS NULL THEN
        RETURN true;
    ELSIF NOT pg_try_advisory_xact_lock(hashtextextended(p_serial_key, 1)) THEN
        RETURN false;
    END IF;
    RETURN NOT EXISTS (SELECT 1 FROM public.jobs j WHERE j.active_lane = p_serial_key)
        AND NOT EXISTS (
            SELECT 1 FROM public.jobs j
            WHERE j.serial_key = p_serial_key AND j.ready_at IS NOT NULL
                AND j.created_at < p_created_at);
END
$$;
COMMENT ON FUNCTION ledger.lane_free(text, timestamptz) IS
    'whether a job is next in its serial lane; holds the lane until the transaction ends';
