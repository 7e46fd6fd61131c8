-- withdraw_decision: take a resend back while its job is still queued and not due.
-- Everything the resend changed is put back, except the key's life, which is never shortened. A job
-- that went on since (it was sent, failed, resent once more) has another due time: too late.
CREATE OR REPLACE FUNCTION ledger.withdraw_decision(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, conflict_id bigint, lock_version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('withdraw_decision', 'human', p_arg,
        '{"conflict_id": "id!", "lock_version": "id!", "reason": "prose"}');
    v_conflict public.conflicts;
    v_locked record;
    v_job public.jobs;
    v_undo jsonb;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_locked FROM ledger.lock_conflict(v_call, (p_arg ->> 'conflict_id')::bigint);
    v_call := v_locked.p_call;
    v_conflict := v_locked.conflict;
    v_job := v_locked.job;
    v_undo := v_conflict.resolution -> 'undo';
    IF v_conflict.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "conflict_id", "hint": "there is no such conflict"}';
    ELSIF v_conflict.state = 'open' THEN
        outcome := 'already_decided';
        detail := '{"hint": "nothing is decided, or the decision was taken back already"}';
    ELSIF v_conflict.state <> 'resent' OR v_undo IS NULL OR v_job.state IS DISTINCT FROM 'queued'
        OR v_job.run_after <= clock_timestamp() OR v_job.run_after IS DISTINCT FROM
            (v_conflict.resolution ->> 'undo_until')::timestamptz THEN
        outcome := 'bad_transition';
        detail := jsonb_build_object('state', v_conflict.state, 'job_state', v_job.state,
            'hint', 'only a resend can be taken back, and only until its job is due');
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSIF v_conflict.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('lock_version', v_conflict.lock_version);
    ELSE
        UPDATE public.jobs j SET
            state = 'review', marker_at = (v_undo ->> 'marker_at')::timestamptz,
            first_marked_at = (v_undo ->> 'first_marked_at')::timestamptz,
            sweeping_at = (v_undo ->> 'sweeping_at')::timestamptz,
            settle_until = (v_undo ->> 'settle_until')::timestamptz,
            lookups = (v_undo ->> 'lookups')::integer,
            lookup_errors = (v_undo ->> 'lookup_errors')::integer,
            resends = (v_undo ->> 'resends')::integer,
            payload = coalesce((SELECT convert_from(b.body, 'UTF8')::jsonb
                FROM public.payload_bodies b
                WHERE b.sha256 = decode(v_undo ->> 'body_sha256', 'hex')), j.payload),
            payload_hash = coalesce(v_undo ->> 'payload_hash', j.payload_hash),
            body_sha256 = CASE WHEN v_undo ? 'payload_hash'
                THEN decode(v_undo ->> 'body_sha256', 'hex') ELSE j.body_sha256 END,
            run_after = (v_undo ->> 'run_after')::timestamptz
        WHERE j.id = v_job.id AND j.version = v_job.version;
        UPDATE public.idem i SET status = 'review' WHERE i.idem_key = v_job.idem_key;
        UPDATE public.conflicts c SET
            state = 'open', decision = NULL, resolved_by = NULL, resolved_at = NULL,
            reason = NULL, resolution = NULL, second_approver = NULL, proposed = NULL,
            proposed_by = NULL, proposed_at = NULL,
            waiting_since = (v_undo ->> 'waiting_since')::timestamptz
        WHERE c.id = v_conflict.id;
        DELETE FROM public.outbox o
        WHERE o.topic = 'conflict.decided' AND o.subject = 'conflict:' || v_conflict.id
            AND o.published_at IS NULL;
        outcome := 'won';
        detail := jsonb_build_object('withdrawn', v_conflict.decision,
            'by', v_conflict.resolved_by);
    END IF;
    outcome := ledger.audit_decision(v_call, outcome, v_conflict, (outcome = 'won')::integer,
        detail, p_arg ->> 'reason');
    SELECT c.id, c.lock_version INTO conflict_id, lock_version
    FROM public.conflicts c WHERE c.id = v_conflict.id;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.withdraw_decision(jsonb) IS
    'take a resend back while its job is still queued and not due';
