-- heartbeat_job: the holder is alive, so its lease starts again from now.
-- A loss is a stop signal: do not write or send anything more for this job.
CREATE OR REPLACE FUNCTION ledger.heartbeat_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, lease_expires_at timestamptz, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('heartbeat_job', 'workflow', p_arg,
        '{"job_id": "text!", "owner_token": "uuid!"}');
    v_job public.jobs;
    v_held record;
    v_now timestamptz;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_job FROM public.jobs j WHERE j.id = p_arg ->> 'job_id' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_held := ledger.judge_holder(v_call, v_job, (p_arg ->> 'owner_token')::uuid);
    outcome := v_held.verdict;
    detail := v_held.detail;
    IF outcome IS NOT NULL THEN
        outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
            v_job.payload_hash, 0, p_job_id => p_arg ->> 'job_id', p_after => detail);
        RETURN NEXT;
        RETURN;
    END IF;
    v_now := clock_timestamp();
    UPDATE public.jobs j SET
        claimed_at = v_now, heartbeat_at = v_now,
        lease_expires_at = v_now + make_interval(secs => j.lease_seconds)
    WHERE j.id = v_job.id AND j.owner_token = v_job.owner_token
    RETURNING j.version, j.lease_expires_at INTO version, lease_expires_at;
    outcome := 'won';
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.heartbeat_job(jsonb) IS
    'the holder is alive, so its lease starts again from now';
