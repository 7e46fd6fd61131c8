-- revive_edited: try a locked dead letter once more, with content that a person changed.
-- What stands against trying it as it is stands against this, too. A send that may have landed is never
-- changed here: as it is the provider drops the repeat, changed it would not. p_approved: a second
-- person has confirmed it; without one, money and sensitive fields are only proposed.
CREATE OR REPLACE FUNCTION ledger.revive_edited(
    p_call ledger.call, p_letter public.failed_jobs, p_job public.jobs, p_arg jsonb,
    p_approved boolean, OUT outcome ledger.outcome, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_new jsonb := p_arg -> 'payload';
    v_body bytea := ledger.store_body(v_new, p_arg ->> 'payload_text');
    v_judged record;
    v_new_key boolean := false;
    v_path text;
BEGIN
    IF p_job.id IS NOT NULL AND (p_job.state <> 'dead' OR ledger.superseded_by(p_job) IS NOT NULL
        OR (p_job.first_marked_at IS NOT NULL AND NOT ledger.may_redrive(p_job))) THEN
        SELECT r.outcome, r.detail INTO outcome, detail
        FROM ledger.revive_letter(p_call, p_letter, p_job) r;
        RETURN;
    ELSIF p_job.first_marked_at IS NOT NULL THEN
        outcome := 'rule_failed';
        detail := '{"why": "send_is_open"}';
        RETURN;
    ELSIF p_job.id IS NOT NULL THEN
        SELECT * INTO v_judged FROM ledger.judge_edit(p_job, p_arg);
        outcome := v_judged.verdict;
        detail := v_judged.detail;
        v_new_key := v_judged.new_key;
    ELSE
        v_path := ledger.identity_drift(p_letter.effect, ledger.letter_payload(p_letter),
            p_letter.event, NULL, v_new, coalesce(nullif(p_arg -> 'event', 'null'), p_letter.event));
        IF v_path IS NOT NULL THEN
            outcome := 'rule_failed';
            detail := jsonb_build_object('why', 'identity', 'path', 'payload.' || v_path);
        END IF;
    END IF;
    IF outcome IS NULL AND NOT p_approved AND ledger.content_needs_two(
        p_letter.effect, p_letter.workflow_name,
        coalesce(p_job.payload, ledger.letter_payload(p_letter)), v_new) THEN
        UPDATE public.failed_jobs f SET
            proposed = p_arg - 'actor' - 'lock_version', proposed_by = p_call.actor,
            proposed_at = clock_timestamp(), next_retry_at = NULL,
            waiting_since = coalesce(f.waiting_since, clock_timestamp()),
            lock_version = f.lock_version + 1
        WHERE f.id = p_letter.id;
        outcome := 'needs_second_person';
    ELSIF outcome IS NULL AND v_new_key THEN
        SELECT e.verdict, e.detail INTO outcome, detail
        FROM ledger.enter_edited(p_call, p_job, p_arg, NULL) e;
        IF outcome IS NULL THEN
            UPDATE public.failed_jobs f SET
                state = 'resolved', resolved_by = coalesce(p_arg ->> 'proposed_by', p_call.actor),
                resolved_at = clock_timestamp(), reason = p_arg ->> 'reason',
                waiting_since = NULL, next_retry_at = NULL, lock_version = f.lock_version + 1
            WHERE f.id = p_letter.id;
            outcome := 'won';
        END IF;
    ELSIF outcome IS NULL THEN
        UPDATE public.jobs j SET
            payload = v_new, payload_hash = ledger.hash(v_new), body_sha256 = v_body
        WHERE j.id = p_job.id AND j.state = 'dead' RETURNING j.* INTO p_job;
        p_letter.payload := v_new;
        p_letter.payload_sha256 := v_body;
        p_letter.event := coalesce(nullif(p_arg -> 'event', 'null'), p_letter.event);
        SELECT r.outcome, r.detail INTO outcome, detail
        FROM ledger.revive_letter(p_call, p_letter, p_job) r;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.revive_edited(
    ledger.call, public.failed_jobs, public.jobs, jsonb, boolean) IS
    'try a locked dead letter once more, with content that a person changed';
