-- decide_failed_job: a person ends a dead letter: try again, abandon, or acknowledge that it was seen.
-- A resend with a payload sends that content instead (revive_edited), under the same key or, with an
-- event, under another. What needs a second person is stored, and approved or rejected by somebody else.
CREATE OR REPLACE FUNCTION ledger.decide_failed_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, failed_job_id bigint, state text, job_id text, lock_version bigint,
    detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_failed_job', 'human', p_arg, '{
        "failed_job_id": "id!", "lock_version": "id!", "reason": "prose",
        "decision": "enum:resend|acknowledge|abandon|approve|reject!", "payload": "any",
        "payload_text": "bytes", "event": "object"}');
    v_locked record;
    v_letter public.failed_jobs;
    v_job public.jobs;
    v_decision text;
    v_edit jsonb;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_decision := p_arg ->> 'decision';
    SELECT * INTO v_locked
    FROM ledger.lock_letter(v_call, (p_arg ->> 'failed_job_id')::bigint);
    v_call := v_locked.p_call;
    v_letter := v_locked.letter;
    v_job := v_locked.job;
    v_edit := CASE WHEN v_decision = 'approve' THEN v_letter.proposed
        || jsonb_build_object('proposed_by', v_letter.proposed_by)
        WHEN jsonb_typeof(p_arg -> 'payload') <> 'null' THEN p_arg END;
    SELECT j.verdict, j.detail INTO outcome, detail FROM ledger.judge_letter(v_letter, p_arg) j;
    IF outcome IS NOT NULL THEN
        NULL;
    ELSIF v_edit IS NOT NULL THEN
        SELECT r.outcome, r.detail INTO outcome, detail FROM ledger.revive_edited(
            v_call, v_letter, v_job, v_edit, v_decision = 'approve') r;
    ELSIF v_decision = 'resend' THEN
        SELECT r.outcome, r.detail INTO outcome, detail
        FROM ledger.revive_letter(v_call, v_letter, v_job) r;
    ELSIF v_decision = 'reject' THEN
        UPDATE public.failed_jobs f SET
            proposed = NULL, proposed_by = NULL, proposed_at = NULL,
            lock_version = f.lock_version + 1
        WHERE f.id = v_letter.id;
        outcome := 'won';
    ELSIF v_decision = 'acknowledge' THEN
        UPDATE public.failed_jobs f SET
            acked_by = v_call.actor, acked_at = clock_timestamp(), waiting_since = NULL,
            reason = p_arg ->> 'reason', lock_version = f.lock_version + 1
        WHERE f.id = v_letter.id;
        outcome := 'won';
    ELSE
        UPDATE public.failed_jobs f SET
            state = 'abandoned', resolved_by = v_call.actor, resolved_at = clock_timestamp(),
            reason = p_arg ->> 'reason', waiting_since = NULL, next_retry_at = NULL,
            lock_version = f.lock_version + 1
        WHERE f.id = v_letter.id;
        IF v_job.state = 'dead' THEN
            UPDATE public.jobs j SET state = 'abandoned' WHERE j.id = v_job.id;
            PERFORM ledger.finish_key(v_job.idem_key, 'abandoned', jsonb_build_object(
                'decision', 'abandon', 'decided_by', v_call.actor));
        END IF;
        outcome := 'won';
    END IF;
    SELECT f.id, f.state, f.job_id, f.lock_version INTO failed_job_id, state, job_id, lock_version
    FROM public.failed_jobs f WHERE f.id = v_letter.id;
    outcome := ledger.audit(v_call, outcome, coalesce(v_job.idem_key, v_letter.item_key),
        coalesce(v_job.payload_hash, '(none)'), CASE WHEN outcome = 'won' AND v_edit IS NOT NULL
            THEN ledger.hash(v_edit -> 'payload') ELSE coalesce(v_job.payload_hash, '(none)') END,
        (outcome IN ('won', 'in_review')
            OR (outcome = 'needs_second_person' AND detail IS NULL))::integer, p_job_id => job_id,
        p_conflict_id => (detail ->> 'conflict_id')::bigint,
        p_after => coalesce(detail, '{}') || jsonb_build_object('decision', v_decision)
            || ledger.edit_facts(v_edit),
        p_reason => p_arg ->> 'reason');
    job_id := coalesce(detail ->> 'job_id', job_id);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_failed_job(jsonb) IS
    'a person ends a dead letter: try again, abandon, or acknowledge that it was seen';
