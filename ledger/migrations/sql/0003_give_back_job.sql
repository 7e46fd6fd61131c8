-- give_back_job: a holder lets go: back to the queue, dead, or left for the sweeper.
-- A job whose send may have happened is never queued or buried here, and one that a later job of its
-- lane has overtaken is not queued: its lease ends now and the sweeper decides.
CREATE OR REPLACE FUNCTION ledger.give_back_job(
    p_job public.jobs, p_to_sweeper boolean, p_clear_marks boolean, p_delay interval,
    p_error text, p_error_node text, p_close jsonb
)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_job public.jobs := p_job;
    v_next text;
    v_now timestamptz := clock_timestamp();
BEGIN
    IF p_clear_marks THEN
        v_job.first_marked_at := CASE WHEN v_job.first_marked_at = v_job.marker_at THEN NULL
                                 ELSE v_job.first_marked_at END;
        v_job.marker_at := NULL;
    END IF;
    v_next := CASE
        WHEN p_to_sweeper THEN 'left_for_sweeper'
        WHEN ledger.attempts_left(v_job) AND ledger.superseded_by(v_job) IS NOT NULL
            THEN 'left_for_sweeper'
        WHEN ledger.attempts_left(v_job) THEN 'queued'
        WHEN v_job.first_marked_at IS NOT NULL THEN 'left_for_sweeper'
        ELSE 'dead'
    END;
    UPDATE public.jobs j SET
        state = CASE v_next WHEN 'left_for_sweeper' THEN 'claimed' ELSE v_next END,
        marker_at = v_job.marker_at, first_marked_at = v_job.first_marked_at,
        run_after = CASE WHEN v_next = 'queued' THEN v_now + p_delay ELSE j.run_after END,
        claimed_at = CASE WHEN v_next = 'left_for_sweeper'
            THEN v_now - make_interval(secs => j.lease_seconds) ELSE j.claimed_at END,
        lease_expires_at = v_now,
        last_error = coalesce(p_error, j.last_error),
        error_node = coalesce(p_error_node, j.error_node),
        last_close = p_close || jsonb_build_object('next', v_next)
    WHERE j.id = p_job.id AND j.owner_token = p_job.owner_token
    RETURNING j.* INTO v_job;
    IF v_next = 'dead' THEN
        PERFORM ledger.bury_job(v_job);
    END IF;
    RETURN v_next;
END
$$;
COMMENT ON FUNCTION ledger.give_back_job(
    public.jobs, boolean, boolean, interval, text, text, jsonb) IS
    'a holder lets go: back to the queue, dead, or left for the sweeper';
