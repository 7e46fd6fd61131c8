-- judge_letter: what stands against a person's decision on a locked dead letter; NULL when nothing.
-- The same person's same proposal again is the same proposal: it still waits for somebody else.
CREATE OR REPLACE FUNCTION ledger.judge_letter(
    p_letter public.failed_jobs, p_arg jsonb, OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_decision text := p_arg ->> 'decision';
BEGIN
    IF p_letter.id IS NULL THEN
        verdict := 'invalid';
        detail := '{"path": "failed_job_id", "hint": "there is no such dead letter"}';
    ELSIF p_letter.proposed = p_arg - 'actor' - 'lock_version'
        AND p_letter.proposed_by = p_arg ->> 'actor' THEN
        verdict := 'needs_second_person';
        detail := jsonb_build_object('proposed_at', p_letter.proposed_at);
    ELSIF p_letter.state NOT IN ('open', 'exhausted')
        OR p_letter.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        verdict := 'already_decided';
        detail := jsonb_build_object('state', p_letter.state, 'decision', CASE
            WHEN p_letter.state = 'retrying' THEN 'resend'
            WHEN p_letter.state = 'abandoned' THEN 'abandon'
            WHEN p_letter.acked_at IS NOT NULL THEN 'acknowledge' END, 'resolved_by', coalesce(
            p_letter.resolved_by, p_letter.acked_by, p_letter.proposed_by),
            'reason', p_letter.reason,
            'resolved_at', coalesce(p_letter.resolved_at, p_letter.acked_at));
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        verdict := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSIF v_decision IN ('approve', 'reject') AND p_letter.proposed IS NULL THEN
        verdict := 'bad_transition';
        detail := '{"hint": "nothing is proposed"}';
    ELSIF v_decision = 'approve' AND p_letter.proposed_by = p_arg ->> 'actor' THEN
        verdict := 'wrong_role';
        detail := '{"hint": "somebody else than the proposer must approve"}';
    ELSIF v_decision <> 'resend' AND jsonb_typeof(p_arg -> 'payload') <> 'null' THEN
        verdict := 'invalid';
        detail := '{"path": "payload", "hint": "only a resend sends other content"}';
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_letter(public.failed_jobs, jsonb) IS
    'what stands against a person''s decision on a locked dead letter; NULL when nothing';
