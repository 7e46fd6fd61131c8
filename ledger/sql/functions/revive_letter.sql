-- revive_letter: try a locked dead letter once more, as far as its job allows it.
-- A job that was marked and may not be re-driven goes to a person instead: never sent again here.
CREATE OR REPLACE FUNCTION ledger.revive_letter(
    p_call ledger.call, p_letter public.failed_jobs, p_job public.jobs,
    OUT outcome ledger.outcome, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_entered record;
    v_job_id text := p_job.id;
    v_conflict bigint;
BEGIN
    IF p_letter.job_id IS NULL AND (p_letter.effect IS NULL OR p_letter.event IS NULL) THEN
        outcome := 'rule_failed';
        detail := '{"why": "no_job", "needs": "a job, or an effect with its event"}';
        RETURN;
    ELSIF p_letter.job_id IS NULL THEN
        SELECT q.outcome, q.job_id, q.detail INTO v_entered FROM ledger.enqueue_job(
            jsonb_build_object('workflow', p_letter.workflow_name, 'effect', p_letter.effect,
                'event', p_letter.event, 'payload', ledger.letter_payload(p_letter))) q;
        IF v_entered.outcome NOT IN ('inserted', 'matched', 'replay') THEN
            outcome := 'rule_failed';
            detail := jsonb_build_object('why', v_entered.outcome, 'entered', v_entered.detail);
            RETURN;
        END IF;
        v_job_id := v_entered.job_id;
        outcome := CASE v_entered.outcome WHEN 'replay' THEN 'already_decided' ELSE 'won' END;
    ELSIF p_job.id IS NULL OR p_job.state IN ('done', 'abandoned') THEN
        outcome := 'already_decided';
    ELSIF p_job.state = 'review' THEN
        outcome := 'in_review';
    ELSIF p_job.state <> 'dead' THEN
        outcome := 'rule_failed';
        detail := jsonb_build_object('why', 'not_dead', 'state', p_job.state);
        UPDATE public.failed_jobs f SET
            next_retry_at = coalesce(p_job.lease_expires_at, clock_timestamp())
                + ledger.seconds('dlq_retry_s')
        WHERE f.id = p_letter.id;
        RETURN;
    ELSIF p_job.first_marked_at IS NOT NULL AND NOT ledger.may_redrive(p_job) THEN
        v_conflict := ledger.send_to_review(p_call, p_job, 'dead_letter_was_marked', NULL);
        outcome := 'in_review';
        detail := jsonb_build_object('conflict_id', v_conflict);
        RETURN;
    ELSE
        UPDATE public.jobs j SET
            state = 'queued', run_after = clock_timestamp(), marker_at = NULL,
            resends = j.resends + 1
        WHERE j.id = p_job.id AND j.state = 'dead';
        PERFORM ledger.extend_key(p_job.idem_key, p_job.provider);
        outcome := 'won';
    END IF;
    UPDATE public.failed_jobs f SET
        state = CASE outcome WHEN 'won' THEN 'retrying' ELSE 'resolved' END,
        job_id = v_job_id, retry_count = f.retry_count + (outcome = 'won')::integer,
        last_retry_at = clock_timestamp(), next_retry_at = NULL, waiting_since = NULL,
        resolved_at = CASE WHEN outcome <> 'won' THEN clock_timestamp() END,
        resolved_by = CASE WHEN outcome <> 'won' THEN p_call.actor END,
        reason = CASE WHEN outcome <> 'won' THEN 'the job is ' || coalesce(p_job.state, 'done') END,
        lock_version = f.lock_version + 1
    WHERE f.id = p_letter.id;
END
$$;
COMMENT ON FUNCTION ledger.revive_letter(ledger.call, public.failed_jobs, public.jobs) IS
    'try a locked dead letter once more, as far as its job allows it';
