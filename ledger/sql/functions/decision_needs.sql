-- decision_needs: what a decision still lacks: reason, provider_ref or statement, event, changes,
-- revision_seen, risk_acknowledged; NULL when nothing. A blank text is none.
CREATE OR REPLACE FUNCTION ledger.decision_needs(
    p_conflict public.conflicts, p_job public.jobs, p_arg jsonb
)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_decision text := p_arg ->> 'decision';
    v_writes boolean := NOT p_conflict.external AND p_conflict.target IS NOT NULL AND (
        v_decision IN ('apply', 'merge')
        OR (v_decision = 'resend' AND p_conflict.kind = 'missing_key')
        OR v_decision = 'accept_new');
BEGIN
    RETURN CASE
        WHEN ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN 'reason'
        WHEN v_decision = 'landed' AND coalesce(ledger.canonical(p_arg ->> 'provider_ref', 'raw'),
            ledger.canonical(p_arg ->> 'statement', 'raw')) IS NULL
            THEN 'provider_ref or statement'
        WHEN v_decision = 'not_landed'
            AND ledger.canonical(p_arg ->> 'statement', 'raw') IS NULL THEN 'statement'
        WHEN v_decision = 'resend' AND p_conflict.kind = 'unknown_send'
            AND (NOT ledger.may_redrive(p_job) OR ledger.superseded_by(p_job) IS NOT NULL
                OR (p_job.first_marked_at IS NOT NULL
                    AND jsonb_typeof(p_arg -> 'payload') <> 'null'))
            AND (p_arg ->> 'risk_acknowledged')::boolean IS NOT TRUE THEN 'risk_acknowledged'
        WHEN v_decision = 'resend' AND p_conflict.kind = 'missing_key'
            AND p_arg ->> 'event' IS NULL THEN 'event'
        WHEN v_decision = 'merge' AND coalesce(p_arg ->> 'changes', '{}') = '{}' THEN 'changes'
        WHEN v_writes AND p_arg ->> 'revision_seen' IS NULL THEN 'revision_seen'
    END;
END
$$;
COMMENT ON FUNCTION ledger.decision_needs(public.conflicts, public.jobs, jsonb) IS
    'what a decision still lacks; NULL when nothing';
