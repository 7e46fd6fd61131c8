-- judge_claim: whether a pending job, locked, may be claimed now: take, won (a resume), or the loss.
CREATE OR REPLACE FUNCTION ledger.judge_claim(
    p_call ledger.call, p_job public.jobs, p_token uuid, OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    verdict := 'held_by_other';
    IF p_token = p_job.last_owner_token AND p_token IS DISTINCT FROM p_job.owner_token THEN
        detail := '{"reason": "token_spent"}';
    ELSIF p_job.state = 'claimed' AND (p_token = p_job.owner_token
        OR (p_token IS NULL AND p_call.execution_id = p_job.execution_id
            AND p_call.instance = p_job.instance)) THEN
        verdict := 'won';
        detail := '{"resumed": true}';
    ELSIF p_job.state = 'queued' AND p_job.run_after > v_now THEN
        detail := jsonb_build_object('reason', 'not_due', 'run_after', p_job.run_after);
    ELSIF p_job.state = 'queued' THEN
        IF ledger.lane_free(p_job.serial_key, p_job.created_at) THEN
            verdict := 'take';
        ELSE
            detail := jsonb_build_object('reason', 'serial_key_busy', 'job_id', p_job.id);
        END IF;
    ELSIF p_job.state = 'claimed' AND p_job.lease_expires_at > v_now THEN
        detail := jsonb_build_object('reason', 'claimed', 'holder', p_job.owner_name,
            'lease_expires_at', p_job.lease_expires_at);
    ELSIF p_job.state = 'claimed' THEN
        IF ledger.may_retake(p_job) AND ledger.attempts_left(p_job)
            AND ledger.superseded_by(p_job) IS NULL THEN
            verdict := 'take';
            detail := '{"reclaimed": true}';
        ELSE
            detail := '{"reason": "expired_waits_for_sweeper"}';
        END IF;
    ELSIF p_job.state = 'sweeping' THEN
        detail := '{"reason": "sweeping"}';
    ELSIF p_job.state = 'dead' THEN
        verdict := 'dead_lettered';
        detail := jsonb_build_object('error', left(p_job.last_error, 1000));
    ELSIF p_job.state = 'review' THEN
        verdict := 'in_review';
    ELSE
        detail := jsonb_build_object('reason', p_job.state);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_claim(ledger.call, public.jobs, uuid) IS
    'whether a pending job, locked, may be claimed now: take, won (a resume), or the loss';
