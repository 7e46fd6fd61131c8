-- decide_job: end the uncertainty of an expired job: done, requeue, review, or wait and look again.
-- Guards: token and version in the write; the decision table is checked here (judge_decision), so a
-- bug in the caller can neither send again nor close without evidence. The guarded write is
-- never repeated by its caller: zero rows is held_by_other.
CREATE OR REPLACE FUNCTION ledger.decide_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, state text, conflict_id bigint, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_job', 'sweeper', p_arg, '{
        "job_id": "text!", "owner_token": "uuid!", "expected_version": "int:1..999999999999999999!",
        "decision": "enum:done|requeue|review|wait!", "reason": "prose!", "look_again_at": "time"}');
    v_locked record;
    v_job public.jobs;
    v_close jsonb;
    v_decision text;
    v_why text;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_decision := p_arg ->> 'decision';
    v_close := jsonb_build_object('op', 'decide_job', 'token', p_arg ->> 'owner_token',
        'decision', v_decision, 'version', (p_arg ->> 'expected_version')::bigint);
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    IF v_job.id IS NULL THEN
        outcome := 'lost_claim';
    ELSIF v_job.last_close @> v_close THEN
        outcome := 'replay';
        state := v_job.last_close ->> 'state';
        conflict_id := (v_job.last_close ->> 'conflict_id')::bigint;
    ELSIF v_job.state <> 'sweeping' OR v_job.owner_token <> (p_arg ->> 'owner_token')::uuid
        OR v_job.version <> (p_arg ->> 'expected_version')::bigint THEN
        outcome := 'held_by_other';
        detail := jsonb_build_object('state', v_job.state, 'version', v_job.version,
            'holder', v_job.owner_name);
    ELSE
        v_why := ledger.judge_decision(v_job, v_decision);
        IF v_why IS NULL AND v_decision = 'wait' AND (p_arg ->> 'look_again_at' IS NULL
            OR (p_arg ->> 'look_again_at')::timestamptz > clock_timestamp() + interval '1 day') THEN
            v_why := 'wait_needs_look_again_at_within_a_day';
        END IF;
        outcome := CASE WHEN v_why IS NULL THEN 'won' ELSE 'rule_failed' END;
        detail := CASE WHEN v_why IS NOT NULL THEN jsonb_build_object('why', v_why) END;
    END IF;
    IF outcome = 'won' THEN
        SELECT d.state, d.conflict_id INTO state, conflict_id
        FROM ledger.apply_decision(v_call, v_job, p_arg, v_close) d;
    END IF;
    version := (SELECT j.version FROM public.jobs j WHERE j.id = v_job.id);
    outcome := ledger.audit(v_call, outcome, v_job.idem_key,
        coalesce(p_arg ->> 'expected_version', '(none)'), coalesce(v_job.version::text, '(none)'),
        (outcome = 'won')::integer, p_job_id => p_arg ->> 'job_id', p_conflict_id => conflict_id,
        p_after => coalesce(detail, jsonb_build_object('decision', v_decision, 'state', state)),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_job(jsonb) IS
    'end the uncertainty of an expired job: done, requeue, review, or wait and look again';
