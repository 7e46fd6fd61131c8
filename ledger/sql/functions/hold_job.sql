-- hold_job: the one lease: give a locked job to a worker's token.
-- A fresh hold has not marked anything yet; first_marked_at still tells of earlier sends. The
-- execution is the new holder's or none: an earlier one must not resume what it lost.
CREATE OR REPLACE FUNCTION ledger.hold_job(
    p_call ledger.call, p_job_id text, p_token uuid, p_lease integer
)
RETURNS public.jobs LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_job public.jobs;
    v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE public.jobs j SET
        state = 'claimed', attempts = j.attempts + 1, owner_token = p_token,
        owner_kind = 'worker', owner_name = coalesce(p_call.worker, p_call.workflow),
        last_owner_token = coalesce(j.owner_token, j.last_owner_token), instance = p_call.instance,
        execution_id = p_call.execution_id, held_natively = p_call.workflow = '(native)',
        claimed_at = v_now, heartbeat_at = NULL, lease_seconds = p_lease,
        lease_expires_at = v_now + make_interval(secs => p_lease), marker_at = NULL,
        sweeping_at = NULL, settle_until = NULL
    WHERE j.id = p_job_id AND (j.state = 'queued'
        OR (j.state = 'claimed' AND j.lease_expires_at <= v_now))
    RETURNING j.* INTO v_job;
    RETURN v_job;
END
$$;
COMMENT ON FUNCTION ledger.hold_job(ledger.call, text, uuid, integer) IS
    'the one lease: give a locked job to a worker''s token';
