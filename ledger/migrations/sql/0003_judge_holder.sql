-- judge_holder: NULL when the token holds the locked job, else the loss this operation answers.
CREATE OR REPLACE FUNCTION ledger.judge_holder(
    p_call ledger.call, p_job public.jobs, p_token uuid, OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_job.id IS NULL THEN
        verdict := 'lost_claim';
        detail := '{"hint": "no such job; start again from the source event with claim_job"}';
    ELSIF p_job.state = 'claimed' AND p_job.owner_token = p_token THEN
        RETURN;
    ELSIF p_job.workflow <> p_call.workflow AND p_token IS DISTINCT FROM p_job.last_owner_token THEN
        verdict := 'wrong_role';
        detail := '{"hint": "this job belongs to another workflow"}';
    ELSE
        verdict := CASE
            WHEN p_job.state = 'done' AND p_call.op = 'heartbeat_job' THEN 'already_done'
            WHEN p_job.state = 'review' AND p_call.op IN ('heartbeat_job', 'complete_job')
                THEN 'in_review'
            ELSE 'held_by_other'
        END;
        detail := jsonb_strip_nulls(jsonb_build_object('state', p_job.state,
            'holder', p_job.owner_name, 'lease_expires_at', p_job.lease_expires_at));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_holder(ledger.call, public.jobs, uuid) IS
    'NULL when the token holds the locked job, else the loss this operation answers';
