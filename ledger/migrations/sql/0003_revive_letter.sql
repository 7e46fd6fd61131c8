-- revive_letter: try a locked dead letter once more, as far as its job allows it.
-- A job that was marked and may not be re-driven goes to a person instead: never sent again here. So
-- does one that a later job of its lane has overtaken. A letter without a job enters by its event. What only a person can mend waits for one who has not
-- acknowledged it; a person's own try that is refused changes nothing.
CREATE OR REPLACE FUNCTION ledger.revive_letter(
    p_call ledger.call, p_letter public.failed_jobs, p_job public.jobs,
    OUT outcome ledger.outcome, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_entered record;
    v_job_id text := p_letter.job_id;
    v_conflict bigint;
    v_again timestamptz;
BEGIN
    IF p_job.id IS NULL THEN
        SELECT * INTO v_entered FROM ledger.enter_letter(p_letter);
        v_job_id := coalesce(v_entered.job_id, v_job_id);
        outcome := v_entered.outcome;
        detail := v_entered.detail;
        v_again := v_entered.again_at;
    ELSIF p_job.state IN ('done', 'abandoned') THEN
        outcome := 'already_decided';
    ELSIF p_job.state = 'review' THEN
        outcome := 'in_review';
    ELSIF p_job.state <> 'dead' THEN
        outcome := 'rule_failed';
        detail := jsonb_build_object('why', 'not_dead', 'state', p_job.state);
        v_again := greatest(p_job.lease_expires_at, p_job.ready_at, clock_timestamp())
            + ledger.seconds('dlq_retry_s');
    ELSIF p_job.first_marked_at IS NOT NULL AND NOT ledger.may_redrive(p_job) THEN
        v_conflict := ledger.send_to_review(p_call, p_job, 'dead_letter_was_marked', NULL);
        outcome := 'in_review';
        detail := jsonb_build_object('conflict_id', v_conflict);
    ELSIF ledger.superseded_by(p_job) IS NOT NULL THEN
        v_conflict := ledger.send_to_review(p_call, p_job, 'superseded_by', NULL);
        outcome := 'in_review';
        detail := jsonb_build_object(
            'conflict_id', v_conflict, 'superseded_by', ledger.superseded_by(p_job));
    ELSE
        UPDATE public.jobs j SET
            state = 'queued', run_after = clock_timestamp(), marker_at = NULL,
            resends = j.resends + 1
        WHERE j.id = p_job.id AND j.state = 'dead';
        PERFORM ledger.extend_key(p_job.idem_key, p_job.provider);
        outcome := 'won';
    END IF;
    IF outcome = 'rule_failed' AND p_call.actor_kind = 'human' THEN
        RETURN;
    END IF;
    UPDATE public.failed_jobs f SET
        state = CASE WHEN outcome = 'won' THEN 'retrying' WHEN outcome <> 'rule_failed'
                THEN 'resolved' WHEN v_again IS NULL AND f.state = 'retrying' THEN 'open'
                ELSE f.state END,
        job_id = v_job_id, retry_count = f.retry_count + (outcome = 'won')::integer,
        last_retry_at = CASE outcome WHEN 'rule_failed' THEN f.last_retry_at
                        ELSE clock_timestamp() END,
        next_retry_at = v_again,
        waiting_since = CASE WHEN outcome = 'rule_failed' AND v_again IS NULL
            AND f.acked_at IS NULL THEN coalesce(f.waiting_since, clock_timestamp()) END,
        acked_at = CASE WHEN outcome <> 'won' THEN f.acked_at END,
        acked_by = CASE WHEN outcome <> 'won' THEN f.acked_by END,
        resolved_at = CASE WHEN outcome IN ('in_review', 'already_decided')
            THEN clock_timestamp() END,
        resolved_by = CASE WHEN outcome IN ('in_review', 'already_decided') THEN p_call.actor END,
        reason = CASE outcome WHEN 'in_review' THEN 'moved to review'
                 WHEN 'already_decided' THEN coalesce(
                     detail ->> 'folded', 'the job is ' || coalesce(p_job.state, 'done'))
                 ELSE f.reason END,
        lock_version = f.lock_version + (outcome <> 'rule_failed' OR v_again IS NULL)::integer
    WHERE f.id = p_letter.id;
END
$$;
COMMENT ON FUNCTION ledger.revive_letter(ledger.call, public.failed_jobs, public.jobs) IS
    'try a locked dead letter once more, as far as its job allows it';
