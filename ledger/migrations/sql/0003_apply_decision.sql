-- apply_decision: carry out a decision of the sweep that judge_decision allowed, on a locked job.
CREATE OR REPLACE FUNCTION ledger.apply_decision(
    p_call ledger.call, p_job public.jobs, p_arg jsonb, p_close jsonb,
    OUT state text, OUT conflict_id bigint
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_job public.jobs;
    v_ref text;
    v_state text;
BEGIN
    v_state := CASE p_arg ->> 'decision'
        WHEN 'requeue' THEN CASE WHEN ledger.attempts_left(p_job) THEN 'queued' ELSE 'dead' END
        WHEN 'wait' THEN 'sweeping'
        ELSE p_arg ->> 'decision'
    END;
    state := v_state;
    p_close := p_close || jsonb_build_object('state', v_state);
    IF v_state = 'review' THEN
        conflict_id := ledger.send_to_review(p_call, p_job, p_arg ->> 'reason', p_close);
        RETURN;
    END IF;
    IF v_state = 'done' THEN
        SELECT e.provider_ref INTO v_ref FROM public.evidence e
        WHERE e.job_id = p_job.id AND e.kind IN ('lookup_found', 'receipt', 'late_receipt')
        ORDER BY e.send_no DESC, e.id DESC LIMIT 1;
    END IF;
    UPDATE public.jobs j SET
        state = v_state, last_close = p_close, provider_ref = coalesce(v_ref, j.provider_ref),
        marker_at = CASE WHEN v_state = 'queued' THEN NULL ELSE j.marker_at END,
        run_after = CASE WHEN v_state = 'queued' THEN clock_timestamp() ELSE j.run_after END,
        last_error = CASE WHEN v_state = 'dead' THEN coalesce(j.last_error, p_arg ->> 'reason')
                     ELSE j.last_error END,
        lease_expires_at = CASE WHEN v_state = 'sweeping'
            THEN greatest((p_arg ->> 'look_again_at')::timestamptz, clock_timestamp())
            ELSE j.lease_expires_at END
    WHERE j.id = p_job.id AND j.owner_token = p_job.owner_token AND j.version = p_job.version
    RETURNING j.* INTO v_job;
    IF v_state = 'done' THEN
        PERFORM ledger.finish_key(p_job.idem_key, 'success', jsonb_build_object(
            'provider_ref', v_job.provider_ref, 'decided_by', 'sweeper'));
        PERFORM ledger.end_letters(p_job.id, 'decide_job');
    ELSIF state = 'dead' THEN
        PERFORM ledger.bury_job(v_job);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.apply_decision(ledger.call, public.jobs, jsonb, jsonb) IS
    'carry out a decision of the sweep that judge_decision allowed, on a locked job';
