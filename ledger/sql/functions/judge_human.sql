-- judge_human: what stands against a person's decision on a locked conflict; NULL when nothing.
-- The same person's same proposal again is the same proposal: it still waits for somebody else.
CREATE OR REPLACE FUNCTION ledger.judge_human(
    p_conflict public.conflicts, p_job public.jobs, p_arg jsonb,
    OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_needs text;
    -- A resent write that nobody takes again: its key is pending alone, and a person may give it up.
    v_alone boolean := p_conflict.state = 'resent' AND p_arg ->> 'decision' = 'abandon'
        AND p_conflict.lock_version = (p_arg ->> 'lock_version')::bigint
        AND EXISTS (SELECT 1 FROM public.idem i
                    WHERE i.idem_key = p_conflict.idem_key AND i.status = 'pending'
                        AND i.job_id IS NULL)
        AND NOT EXISTS (SELECT 1 FROM public.conflicts c
                        WHERE c.idem_key = p_conflict.idem_key AND c.id > p_conflict.id);
BEGIN
    IF p_conflict.id IS NULL THEN
        verdict := 'invalid';
        detail := '{"path": "conflict_id", "hint": "there is no such conflict"}';
    ELSIF p_conflict.resolved_at IS NOT NULL AND v_alone IS NOT TRUE THEN
        verdict := 'already_decided';
        detail := jsonb_build_object('decision', p_conflict.decision, 'state', p_conflict.state,
            'resolved_by', p_conflict.resolved_by, 'resolved_at', p_conflict.resolved_at,
            'reason', p_conflict.reason);
    ELSIF p_conflict.state = 'detected'
        OR ledger.decision_state(p_conflict.kind, p_arg ->> 'decision') IS NULL THEN
        verdict := 'bad_transition';
        detail := jsonb_build_object('kind', p_conflict.kind, 'state', p_conflict.state,
            'decision', p_arg -> 'decision');
    ELSIF p_conflict.proposed = p_arg - 'actor' - 'lock_version'
        AND p_conflict.proposed_by = p_arg ->> 'actor' THEN
        verdict := 'needs_second_person';
        detail := jsonb_build_object('proposed_at', p_conflict.proposed_at);
    ELSIF p_conflict.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        verdict := 'stale_version';
        detail := jsonb_build_object('lock_version', p_conflict.lock_version,
            'proposed_by', p_conflict.proposed_by);
    ELSE
        v_needs := ledger.decision_needs(p_conflict, p_job, p_arg);
        IF v_needs IS NOT NULL THEN
            verdict := 'rule_failed';
            detail := jsonb_build_object('needs', v_needs);
        ELSIF jsonb_typeof(p_arg -> 'payload') <> 'null' AND p_conflict.kind = 'unknown_send'
            AND p_arg ->> 'decision' = 'resend' THEN
            SELECT e.verdict, e.detail INTO verdict, detail
            FROM ledger.judge_edit(p_job, p_arg) e;
        ELSIF jsonb_typeof(p_arg -> 'payload') <> 'null' THEN
            verdict := 'invalid';
            detail := '{"path": "payload", "hint": "only the resend of a send sends other content"}';
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_human(public.conflicts, public.jobs, jsonb) IS
    'what stands against a person''s decision on a locked conflict; NULL when nothing';
